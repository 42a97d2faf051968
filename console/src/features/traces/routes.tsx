import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { createAddressReader, readText } from "../../shared/list/address";
import { readTraceFilters } from "./filters";

export const traceRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "traces",
    validateSearch: readTraceFilters,
    component: lazyRouteComponent(() => import("./traces")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "traces/$traceId",
    validateSearch: createAddressReader<{ step?: string }>({ step: readText }),
    component: lazyRouteComponent(() => import("./trace")),
  }),
];
