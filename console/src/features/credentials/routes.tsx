import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readCredentialFilters } from "./filters";

export const credentialRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "credentials",
    validateSearch: readCredentialFilters,
    component: lazyRouteComponent(() => import("./credentials")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "credentials/new",
    component: lazyRouteComponent(() => import("./new_credential")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "credentials/$credentialId",
    component: lazyRouteComponent(() => import("./credential")),
  }),
];
