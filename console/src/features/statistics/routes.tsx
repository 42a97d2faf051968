import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { hasLogFilters, readCallFilters } from "./filters";

export const statisticsRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId/statistics",
    validateSearch: readCallFilters,
    // The log stood on this page, and addresses with its filters were kept.
    beforeLoad: ({ search, params }) => {
      if (hasLogFilters(search)) throw redirect({ to: "/agents/$agentId/log", params, search, replace: true });
    },
    component: lazyRouteComponent(() => import("./statistics")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId/log",
    validateSearch: readCallFilters,
    component: lazyRouteComponent(() => import("./log")),
  }),
];
