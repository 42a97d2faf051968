import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../routes";

export const notificationRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "inbox",
    validateSearch: (search): { unread?: true; preferences?: true } => ({
      ...(search.unread === true ? { unread: true } : {}),
      ...(search.preferences === true ? { preferences: true } : {}),
    }),
    component: lazyRouteComponent(() => import("./inbox")),
  }),
];
