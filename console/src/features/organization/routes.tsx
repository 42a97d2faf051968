import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";

export const organizationRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "settings/organization",
    component: lazyRouteComponent(() => import("./organization")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "settings/organization/file",
    component: lazyRouteComponent(() => import("./file/tenant_file")),
  }),
];
