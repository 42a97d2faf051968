import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readText } from "../../shared/list/address";
import { readConversationFilters } from "./filters";

export const conversationRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "conversations",
    validateSearch: readConversationFilters,
    component: lazyRouteComponent(() => import("./conversations")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "conversations/$conversationId",
    validateSearch: (search): { turn?: string; step?: string; correlation?: string } => ({
      turn: readText(search.turn),
      step: readText(search.step),
      correlation: readText(search.correlation),
    }),
    component: lazyRouteComponent(() => import("./conversation")),
  }),
];
