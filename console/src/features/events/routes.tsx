import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readEventFilters, readSubscriptionFilters } from "./filters";

export const eventRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "events",
    validateSearch: readEventFilters,
    component: lazyRouteComponent(() => import("./event_log")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "events/subscriptions",
    validateSearch: readSubscriptionFilters,
    component: lazyRouteComponent(() => import("./subscriptions/subscriptions")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "events/subscriptions/$subscriptionId",
    component: lazyRouteComponent(() => import("./subscriptions/subscription")),
  }),
];
