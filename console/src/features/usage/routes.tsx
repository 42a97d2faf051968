import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { createAddressReader, readPageNumber } from "../../shared/list/address";
import { readPriceFilters, readUsageFilters } from "./filters";

export const usageRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "usage",
    validateSearch: readUsageFilters,
    component: lazyRouteComponent(() => import("./overview")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "usage/budgets",
    component: lazyRouteComponent(() => import("./budgets")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "usage/budgets/new",
    component: lazyRouteComponent(() => import("./new_budget")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "usage/prices",
    validateSearch: readPriceFilters,
    component: lazyRouteComponent(() => import("./prices")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "usage/limits",
    validateSearch: createAddressReader<{ page?: number }>({ page: readPageNumber }),
    component: lazyRouteComponent(() => import("./limits")),
  }),
];
