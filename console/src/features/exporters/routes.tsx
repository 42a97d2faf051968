import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";

export const exporterRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "settings/exporters",
    component: lazyRouteComponent(() => import("./exporters")),
  }),
];
