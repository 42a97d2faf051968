import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";

export const serviceAccountRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "service-accounts",
    component: lazyRouteComponent(() => import("./service_accounts")),
  }),
];
