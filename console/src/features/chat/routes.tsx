import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readConversationFilters } from "./filters";

const text = (value: unknown) => (typeof value === "string" && value ? value : undefined);

export const chatRoutes = (frame: FrameRoute) => [
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
      turn: text(search.turn),
      step: text(search.step),
      correlation: text(search.correlation),
    }),
    component: lazyRouteComponent(() => import("./conversation")),
  }),
];
