import { api, unwrapData } from "../../../api/client";
import { conversationPath } from "../../../shared/conversations/changes";

/** Copy a conversation that one may read into one of one's own. */
export const copySharedConversation = (id: string) =>
  unwrapData(api.POST("/api/v1/conversations/{conversation_id}/continue", { ...conversationPath(id), body: {} }));
