import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readDocumentFilters } from "./filters";

export const knowledgeRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId/knowledge",
    validateSearch: readDocumentFilters,
    component: lazyRouteComponent(() => import("./knowledge")),
  }),
];
