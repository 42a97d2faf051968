import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readDeliveryFilters, readReceivedFilters, readWebhookFilters } from "./filters";

export const webhookRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "webhooks",
    validateSearch: readWebhookFilters,
    component: lazyRouteComponent(() => import("./webhooks")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "webhooks/incoming",
    validateSearch: readWebhookFilters,
    component: lazyRouteComponent(() => import("./incoming/incoming_webhooks")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "webhooks/incoming/$incomingWebhookId",
    validateSearch: readReceivedFilters,
    component: lazyRouteComponent(() => import("./incoming/received")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "webhooks/$webhookId",
    validateSearch: readDeliveryFilters,
    component: lazyRouteComponent(() => import("./deliveries")),
  }),
];
