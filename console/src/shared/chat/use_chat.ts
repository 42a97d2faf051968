import { useCallback, useMemo } from "react";
import { api } from "../../api/client";
import { ApiError } from "../../api/errors";
import type { Attached } from "./attachments";
import { ask, isWaiting, newTurn, type Turn } from "./chat";
import { storeChat } from "./stored_chat";
import { type ChatOptions, useReplies } from "./use_replies";
import { useRestored } from "./use_restored";

const STOP_MS = 3000;

/** Whether a turn goes with the next question: the server has nothing of it, or the question is asked once more. */
const isReplacedBy = (question: string, turn: Turn) =>
  turn.isRefused || (Boolean(turn.error) && !turn.text && turn.question === question);

/** A conversation with an agent that survives a reload and a server that goes, and goes on after an approval. */
export function useChat(chat: ChatOptions) {
  const { agentId } = chat;
  const replies = useReplies(chat);
  const { turns, setTurns, change, conversation, running, abortAll, latest, fail, follow } = replies;
  useRestored(agentId, replies);

  /** Ask; a question that gets no answer is handed to `onUnanswered`. */
  const send = async (question: string, attachments: Attached[] = []) => {
    const turn = newTurn(question, attachments);
    setTurns((all) => [...all.filter((one) => !isReplacedBy(question, one)), turn]);
    try {
      await latest.current.beforeSend?.();
    } catch (error) {
      change(turn.id, (one) => ({ ...one, isLive: false }));
      return fail(turn, error, true);
    }
    const seed = !conversation.current && latest.current.from ? { from_conversation_id: latest.current.from } : {};
    const files = attachments.length ? { attachments: attachments.map(({ file_id }) => ({ file_id })) } : {};
    await follow(turn, (signal) =>
      ask(agentId, question, conversation.current, signal, { ...latest.current.options, ...seed, ...files }),
    );
  };
  const live = useMemo(() => turns.find((turn) => turn.isLive || isWaiting(turn)), [turns]);
  const stop = () => {
    if (!live?.messageId) return abortAll();
    const path = { agent_id: agentId, message_id: live.messageId };
    const asked = [...running.current.values()];
    // A reply that does not end by itself belongs to a server that is gone: it is no longer waited for.
    const giveUp = () =>
      setTimeout(() => {
        for (const one of asked) one.abort();
      }, STOP_MS);
    void api
      .POST("/api/v1/agents/{agent_id}/chat/{message_id}/stop", { params: { path } })
      .catch(() => undefined)
      .then(giveUp);
  };
  const reset = () => {
    abortAll();
    conversation.current = "";
    latest.current.from = undefined;
    storeChat(agentId);
    setTurns([]);
  };
  const rate = useCallback(
    async (turn: Turn, rating: Turn["rating"] = "none", comment?: string) => {
      change(turn.id, (one) => ({ ...one, rating }));
      try {
        await api.POST("/api/v1/agents/{agent_id}/messages/{message_id}/feedback", {
          params: { path: { agent_id: agentId, message_id: turn.messageId } },
          body: { rating, ...(comment ? { comment } : {}) },
        });
      } catch (error) {
        if (error instanceof ApiError) change(turn.id, (one) => ({ ...one, rating: turn.rating }));
      }
    },
    [agentId, change],
  );
  return { turns, live, isLive: Boolean(live?.isLive), send, stop, reset, rate };
}
