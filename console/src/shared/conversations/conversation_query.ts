import { queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import { conversationPath } from "./changes";

export type ConversationDetail = components["schemas"]["ConversationDetail"];

export const conversationQuery = (id: string) =>
  queryOptions({
    queryKey: ["chat", id],
    queryFn: () => unwrapData(api.GET("/api/v1/conversations/{conversation_id}", conversationPath(id))),
  });
