import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readRoleFilters } from "./filters";

export const roleRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "settings/roles",
    validateSearch: readRoleFilters,
    component: lazyRouteComponent(() => import("./roles")),
  }),
];
