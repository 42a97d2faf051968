import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";

export const userRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "profile",
    component: lazyRouteComponent(() => import("./profile")),
  }),
];
