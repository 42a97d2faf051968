import { createRootRoute, createRoute, Outlet, redirect } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense, useState, useSyncExternalStore } from "react";
import { readSessionState, subscribeToSession } from "./api/session";
import { ConsoleFrame } from "./shared/frame/frame";
import { noteOpening } from "./shared/frame/opening";
import { Boundary } from "./shared/states/boundary";
import { FailureState, NotFoundState } from "./shared/states/states";

export const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFoundState,
  errorComponent: ({ error, reset }) => <FailureState error={error} onRetry={reset} />,
});

const SignInDialog = lazy(() => import("./features/auth/sign_in").then((found) => ({ default: found.SignInDialog })));

/** Its type is named here: inferred, it would depend on the routes, which begin with this one. */
const ChatHistory = lazy(
  (): Promise<{ default: ComponentType }> =>
    import("./features/chat/history").then((found) => ({ default: found.ChatHistory })),
);

const chats = (
  <Suspense fallback={<div />}>
    <ChatHistory />
  </Suspense>
);

/** Asks for the password over the page once the session has ended. */
function ExpiredSession() {
  const state = useSyncExternalStore(subscribeToSession, readSessionState);
  return <Suspense fallback={null}>{state === "expired" && <SignInDialog />}</Suspense>;
}

function FramePage() {
  useState(noteOpening);
  return (
    <ConsoleFrame chats={chats}>
      <Boundary>
        <Outlet />
      </Boundary>
      <ExpiredSession />
    </ConsoleFrame>
  );
}

/** Everything behind the sign-in stands in the frame. */
export const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  beforeLoad: ({ location }) => {
    if (readSessionState() !== "signed-out") return;
    throw redirect({ to: "/sign-in", search: location.href === "/" ? {} : { to: location.href }, replace: true });
  },
  component: FramePage,
  notFoundComponent: NotFoundState,
});

export type FrameRoute = typeof frame;
