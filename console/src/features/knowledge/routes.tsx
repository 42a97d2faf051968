import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../routes";
import { readFilters } from "./filters";

export const knowledgeRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId/knowledge",
    validateSearch: readFilters,
    component: lazyRouteComponent(() => import("./knowledge")),
  }),
];
