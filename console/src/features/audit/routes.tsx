import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readAuditFilters } from "./filters";

export const auditRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "settings/audit",
    validateSearch: readAuditFilters,
    component: lazyRouteComponent(() => import("./audit")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "settings/audit/receivers",
    component: lazyRouteComponent(() => import("./receivers")),
  }),
];
