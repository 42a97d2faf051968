import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { suspect, whenBack } from "../../api/connection";
import { asApiError } from "../../api/errors";
import { messagesQuery } from "../trace/queries";
import { isWaiting, newTurn, resumeTurn, type Turn, turnsOf, withNewer, withoutRepeats } from "./chat";
import { readChat, storeChat } from "./stored_chat";
import type { Replies } from "./use_replies";

const TRIES = 3;
const GONE = [403, 404];

/** Read, and if the server does not answer, read again once it does. */
async function readWhenBack<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read();
    } catch (error) {
      const { status } = asApiError(error);
      if (signal.aborted || tries === TRIES || (status > 0 && status < 502)) throw error;
      suspect();
      await whenBack(signal);
    }
  }
}

/** Show the conversation of before a reload, and go on with the reply that was being written. */
export function useRestored(agentId: string, replies: Replies) {
  const client = useQueryClient();
  const { setTurns, conversation, running, abortAll, latest, follow } = replies;
  // After a reload: first the reply that is being written, since the server gives it up when nobody listens.
  useEffect(() => {
    const over = new AbortController();
    const stored = latest.current.from ? undefined : readChat(agentId);
    const { conversationId, messageId, ...asked } = stored ?? { conversationId: latest.current.from ?? "" };
    /** Whether this is still the conversation: somebody may have begun a new one while it was being read. */
    const isCurrent = () => (stored ? conversation.current : latest.current.from) === conversationId;
    const showStored = (all: Turn[], live?: Turn) => {
      const isOver = live && all.some((turn) => turn.messageId === messageId && !isWaiting(turn));
      if (isOver) {
        running.current.get(live.id)?.abort();
        // A question that was asked since then has noted its own reply.
        if ([...running.current.keys()].every((id) => id === live.id)) storeChat(agentId, { conversationId });
      }
      const last = all.at(-1);
      const isAnswered = Boolean(last?.text && !last.error);
      const isPast = (turn: Turn) =>
        (isOver && turn.id === live.id) || (isAnswered && turn.isRefused && turn.question === last?.question);
      setTurns((now) =>
        withNewer(
          all,
          now.filter((turn) => !isPast(turn)),
        ),
      );
      if (last && isAnswered) latest.current.onAnswered?.(last.question, last.attachments ?? []);
    };
    const restore = async () => {
      if (!conversationId) return;
      // A question that is asked before the history has loaded continues the conversation.
      if (stored) conversation.current = conversationId;
      const started = { ...newTurn(asked.question ?? "", asked.attachments), text: asked.text ?? "" };
      const live = messageId ? { ...started, messageId, startedMs: undefined } : undefined;
      if (live) {
        setTurns((now) => [live, ...now.filter(({ isRefused }) => isRefused)]);
        void follow(live, (signal) => resumeTurn(agentId, live.messageId, "0", signal));
      }
      try {
        const found = await readWhenBack(
          () => client.fetchQuery({ ...messagesQuery(conversationId), staleTime: 0 }),
          over.signal,
        );
        if (!over.signal.aborted && isCurrent())
          showStored(
            withoutRepeats(turnsOf(found.data)).map((turn) => ({ ...turn, askedAt: undefined })),
            live,
          );
      } catch (error) {
        // Only a conversation that is no longer there is forgotten.
        if (live || !stored || !isCurrent() || !GONE.includes(asApiError(error).status)) return;
        conversation.current = "";
        storeChat(agentId);
      }
    };
    void restore();
    return () => {
      over.abort();
      abortAll();
    };
  }, [agentId, client, setTurns, conversation, running, abortAll, latest, follow]);
}
