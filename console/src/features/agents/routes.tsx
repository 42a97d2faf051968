import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readAgentFilters } from "./filters";

export const agentRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "agents",
    validateSearch: readAgentFilters,
    component: lazyRouteComponent(() => import("./agents")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId",
    validateSearch: (search): { from?: string } => (typeof search.from === "string" ? { from: search.from } : {}),
    component: lazyRouteComponent(() => import("./agent")),
  }),
];
