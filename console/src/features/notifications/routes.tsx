import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";

export const notificationRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "inbox",
    validateSearch: (search): { all?: true; preferences?: true } => ({
      ...(search.all === true ? { all: true } : {}),
      ...(search.preferences === true ? { preferences: true } : {}),
    }),
    component: lazyRouteComponent(() => import("./inbox")),
  }),
];
