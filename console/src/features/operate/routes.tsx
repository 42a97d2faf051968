import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { createAddressReader, readPageNumber } from "../../shared/list/address";
import { readJobFilters, readOrganizationFilters } from "./filters";

export const operateRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "operate",
    component: lazyRouteComponent(() => import("./overview")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "operate/jobs",
    validateSearch: readJobFilters,
    component: lazyRouteComponent(() => import("./jobs")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "operate/mails",
    validateSearch: createAddressReader<{ page?: number }>({ page: readPageNumber }),
    component: lazyRouteComponent(() => import("./mails")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "operate/organizations",
    validateSearch: readOrganizationFilters,
    component: lazyRouteComponent(() => import("./organizations")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "operate/organizations/new",
    component: lazyRouteComponent(() => import("./new_organization")),
  }),
];
