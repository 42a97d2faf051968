import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readModelFilters } from "./filters";

export const providerRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "settings/models",
    validateSearch: readModelFilters,
    component: lazyRouteComponent(() => import("./models")),
  }),
];
