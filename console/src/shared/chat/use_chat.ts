import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useState, useSyncExternalStore } from "react";
import { api } from "../../api/client";
import { checkServer, waitUntilServerBack } from "../../api/connection";
import { scheduleTimeout } from "../schedule";
import { messagesQuery } from "../trace/queries";
import { findLiveTurn, openReplyStream, resumeReplyStream } from "./chat";
import { type ChatApi, ChatSession, type ChatSessionOptions } from "./chat_session";
import { readStoredChat, storeChat } from "./stored_chat";

type ChatOptions = {
  agentId: string;
  /** Where this tab keeps the conversation. */
  place: string;
} & Pick<ChatSessionOptions, "from" | "refused" | "onKept" | "onUnanswered" | "onAnswered">;

/** A conversation with an agent. The options are those of the first rendering; another agent needs another key. */
export function useChat(options: ChatOptions) {
  const client = useQueryClient();
  const [session] = useState(() => createChatSession(options, client));
  const { turns } = useSyncExternalStore(session.subscribe, session.getSnapshot);
  return { session, turns, live: findLiveTurn(turns) };
}

const createChatSession = ({ agentId, place, ...options }: ChatOptions, client: QueryClient) =>
  new ChatSession({
    ...options,
    api: createChatApi(agentId, client),
    connection: { suspect: checkServer, whenBack: waitUntilServerBack },
    storage: { read: () => readStoredChat(place), write: (chat) => storeChat(place, chat) },
    schedule: scheduleTimeout,
  });

/** The agent on the server, for a session. */
export const createChatApi = (agentId: string, client: QueryClient): ChatApi => ({
  ask: (question, conversationId, signal, options) =>
    openReplyStream(agentId, question, conversationId, signal, options),
  resume: (messageId, afterEvent, signal) => resumeReplyStream(agentId, messageId, afterEvent, signal),
  stop: (messageId) =>
    api.POST("/api/v1/agents/{agent_id}/chat/{message_id}/stop", {
      params: { path: { agent_id: agentId, message_id: messageId } },
    }),
  rate: (messageId, feedback) =>
    api.POST("/api/v1/agents/{agent_id}/messages/{message_id}/feedback", {
      params: { path: { agent_id: agentId, message_id: messageId } },
      body: feedback,
    }),
  readMessages: async (conversationId, leaf) =>
    (await client.fetchQuery({ ...messagesQuery(conversationId, leaf), staleTime: 0 })).data,
});
