import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { FrameRoute } from "../../frame_route";
import { readChatSearch } from "./chat_address";

/** One page for all chats: a conversation that is begun gets an address without a new page. */
export const chatRoutes = (frame: FrameRoute) => {
  const chat = createRoute({
    getParentRoute: () => frame,
    path: "chat",
    validateSearch: readChatSearch,
    // Its type is named here: inferred, it would depend on the routes, of which this is one.
    component: lazyRouteComponent((): Promise<{ default: () => ReactNode }> => import("./chat_page")),
  });
  const conversation = createRoute({ getParentRoute: () => chat, path: "$conversationId" });
  return [chat.addChildren([conversation])];
};
