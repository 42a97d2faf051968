import { createRootRoute, createRoute, Outlet, redirect } from "@tanstack/react-router";
import { lazy, Suspense, useSyncExternalStore } from "react";
import { sessionState, subscribeToSession } from "./api/session";
import { Frame } from "./shared/frame/frame";
import { Boundary } from "./shared/states/boundary";
import { Failure, NotFound } from "./shared/states/states";

export const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => <Failure error={error} onRetry={reset} />,
});

const SignInDialog = lazy(() => import("./features/auth/sign_in").then((found) => ({ default: found.SignInDialog })));

/** Asks for the password over the page once the session has ended. */
function ExpiredSession() {
  const state = useSyncExternalStore(subscribeToSession, sessionState);
  return <Suspense fallback={null}>{state === "expired" && <SignInDialog />}</Suspense>;
}

/** Everything behind the sign-in stands in the frame. */
export const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  beforeLoad: ({ location }) => {
    if (sessionState() !== "signed-out") return;
    throw redirect({ to: "/sign-in", search: location.href === "/" ? {} : { to: location.href }, replace: true });
  },
  component: () => (
    <Frame>
      <Boundary>
        <Outlet />
      </Boundary>
      <ExpiredSession />
    </Frame>
  ),
  notFoundComponent: NotFound,
});

export type FrameRoute = typeof frame;
