import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useState, useSyncExternalStore } from "react";
import { api } from "../../api/client";
import { checkServer, waitUntilBack } from "../../api/connection";
import { schedule } from "../schedule";
import { messagesQuery } from "../trace/queries";
import { liveTurn, openReply, resumeTurn } from "./chat";
import { type ChatApi, ChatSession, type ChatSessionOptions } from "./chat_session";
import { readChat, storeChat } from "./stored_chat";

type ChatOptions = { agentId: string } & Pick<
  ChatSessionOptions,
  "from" | "refused" | "onKept" | "onUnanswered" | "onAnswered"
>;

/** A conversation with an agent. The options are those of the first rendering; another agent needs another key. */
export function useChat(options: ChatOptions) {
  const client = useQueryClient();
  const [session] = useState(() => newChatSession(options, client));
  const { turns } = useSyncExternalStore(session.subscribe, session.getSnapshot);
  return { session, turns, live: liveTurn(turns) };
}

const newChatSession = ({ agentId, ...options }: ChatOptions, client: QueryClient) =>
  new ChatSession({
    ...options,
    api: chatApi(agentId, client),
    connection: { suspect: checkServer, whenBack: waitUntilBack },
    storage: { read: () => readChat(agentId), write: (chat) => storeChat(agentId, chat) },
    schedule,
  });

const chatApi = (agentId: string, client: QueryClient): ChatApi => ({
  ask: (question, conversationId, signal, options) => openReply(agentId, question, conversationId, signal, options),
  resume: (messageId, afterEvent, signal) => resumeTurn(agentId, messageId, afterEvent, signal),
  stop: (messageId) =>
    api.POST("/api/v1/agents/{agent_id}/chat/{message_id}/stop", {
      params: { path: { agent_id: agentId, message_id: messageId } },
    }),
  rate: (messageId, rating, comment) =>
    api.POST("/api/v1/agents/{agent_id}/messages/{message_id}/feedback", {
      params: { path: { agent_id: agentId, message_id: messageId } },
      body: { rating, ...(comment ? { comment } : {}) },
    }),
  readMessages: async (conversationId) =>
    (await client.fetchQuery({ ...messagesQuery(conversationId), staleTime: 0 })).data,
});
