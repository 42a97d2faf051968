import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readCallFilters } from "./filters";

export const statisticsRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId/statistics",
    validateSearch: readCallFilters,
    component: lazyRouteComponent(() => import("./statistics")),
  }),
];
