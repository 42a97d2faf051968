import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { createAddressReader, readText } from "../../shared/list/address";
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
    validateSearch: createAddressReader<{ from?: string }>({ from: readText }),
    component: lazyRouteComponent(() => import("./agent")),
  }),
];
