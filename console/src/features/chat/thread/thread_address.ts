import { basePath } from "../../../api/base";

/** The address of a conversation, for somebody else's browser. */
export const addressOfThread = (conversationId: string) =>
  `${location.origin}${basePath}/console/chat/${encodeURIComponent(conversationId)}`;
