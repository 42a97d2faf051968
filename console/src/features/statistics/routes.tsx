import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../routes";
import { readFilters } from "./filters";

export const statisticsRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId/statistics",
    validateSearch: readFilters,
    component: lazyRouteComponent(() => import("./statistics")),
  }),
];
