import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { meQuery } from "../../../api/queries";
import { conversationQuery } from "../../../shared/conversations/conversation_query";
import { FailureState } from "../../../shared/states/states";
import type { ChatAgent } from "../chat_agents";
import { ConversationPane } from "./conversation_pane";
import { useThread } from "./use_thread";

type Props = {
  agent: ChatAgent;
  /** Without it a conversation begins with the first message. */
  conversationId?: string;
  /** Hears the id of a conversation that has begun here. */
  onConversation: (conversationId: string) => void;
  /** A question to begin with, which is sent at once. */
  draft?: string;
};

/** A conversation with an agent: read, go on, edit, compare versions, share. The page mounts it anew for another one. */
export function ChatThread({ agent, conversationId, onConversation, draft }: Props) {
  const thread = useThread(agent.id, conversationId, onConversation);
  const { session, turns } = thread;
  const id = conversationId ?? session.id;
  const { data: me } = useQuery(meQuery);
  const { data: conversation, error, refetch } = useQuery({ ...conversationQuery(id), enabled: Boolean(id) });
  const sent = useRef("");
  useEffect(() => {
    if (!draft || conversationId || sent.current === draft) return;
    sent.current = draft;
    void session.ask(draft);
  }, [draft, conversationId, session]);
  if (error && !conversation && !turns.length) return <FailureState error={error} onRetry={() => void refetch()} />;
  const isForeign = Boolean(me && conversation && conversation.user_id !== me.id);
  return (
    <ConversationPane
      agent={agent}
      thread={thread}
      conversationId={id || undefined}
      conversation={conversation}
      isForeign={isForeign}
      onConversation={onConversation}
    />
  );
}
