import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { createAddressReader, readTrueFlag } from "../../shared/list/address";

export const notificationRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "inbox",
    validateSearch: createAddressReader<{ all?: true; preferences?: true }>({
      all: readTrueFlag,
      preferences: readTrueFlag,
    }),
    // The preferences were a dialog of this page once.
    beforeLoad: ({ search }) => {
      if (search.preferences) throw redirect({ to: "/inbox/preferences", replace: true });
    },
    component: lazyRouteComponent(() => import("./inbox")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "inbox/preferences",
    component: lazyRouteComponent(() => import("./preferences")),
  }),
];
