import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readGridView, readTableFilters } from "./filters";

export const tableRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "tables",
    validateSearch: readTableFilters,
    component: lazyRouteComponent(() => import("./tables")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "tables/$tableId",
    validateSearch: readGridView,
    component: lazyRouteComponent(() => import("./grid/table_rows")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "tables/$tableId/import",
    component: lazyRouteComponent(() => import("./import/import_rows")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "tables/$tableId/imports",
    component: lazyRouteComponent(() => import("./table_imports")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "tables/$tableId/uses",
    component: lazyRouteComponent(() => import("./table_uses")),
  }),
];
