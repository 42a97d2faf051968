import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { createAddressReader, readText } from "../../shared/list/address";
import { readExecutionFilters, readStatisticsPeriod, readToolFilters } from "./filters";

export const toolRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "tools",
    validateSearch: readToolFilters,
    component: lazyRouteComponent(() => import("./tools")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "tools/new",
    component: lazyRouteComponent(() => import("./new/new_tool")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "tools/$toolId",
    validateSearch: createAddressReader<{ run?: string }>({ run: readText }),
    component: lazyRouteComponent(() => import("./define/define")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "tools/$toolId/executions",
    validateSearch: readExecutionFilters,
    component: lazyRouteComponent(() => import("./executions")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "tools/$toolId/statistics",
    validateSearch: readStatisticsPeriod,
    component: lazyRouteComponent(() => import("./statistics")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "tools/$toolId/uses",
    component: lazyRouteComponent(() => import("./uses")),
  }),
];
