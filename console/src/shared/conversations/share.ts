import { queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import { asApiError } from "../../api/errors";
import type { components } from "../../api/schema";
import { conversationPath } from "./changes";

export type ConversationShare = components["schemas"]["ShareOut"];
export type ConversationShareChange = components["schemas"]["ShareChange"];
const NOT_SHARED = 404;

/** Who else may read a conversation; null if nobody may. */
export const conversationShareQuery = (id: string) =>
  queryOptions({
    queryKey: ["chat", id, "share"],
    queryFn: async (): Promise<ConversationShare | null> => {
      try {
        return await unwrapData(api.GET("/api/v1/conversations/{conversation_id}/share", conversationPath(id)));
      } catch (error) {
        if (asApiError(error).status === NOT_SHARED) return null;
        throw error;
      }
    },
  });

export const shareConversation = (id: string, body: ConversationShareChange) =>
  unwrapData(api.PUT("/api/v1/conversations/{conversation_id}/share", { ...conversationPath(id), body }));

export const endConversationShare = (id: string) =>
  unwrapData(api.DELETE("/api/v1/conversations/{conversation_id}/share", conversationPath(id)));
