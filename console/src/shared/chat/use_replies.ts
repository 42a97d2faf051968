import { useCallback, useRef, useState } from "react";
import { asApiError } from "../../api/errors";
import type { Attached } from "./attachments";
import { type AskOptions, newTurn, type Turn, type TurnError, turnErrorOf } from "./chat";
import { followReply, type OpenReply } from "./follow_reply";
import { type StoredChat, storeChat } from "./stored_chat";
import type { Refused } from "./unsent";

export type ChatOptions = {
  agentId: string;
  options?: AskOptions;
  /** A conversation that this one goes on from. */
  from?: string;
  /** The last question before a reload, if the server did not take it. */
  refused?: Refused;
  beforeSend?: () => Promise<void>;
  /** Hears that the server has the question that was sent last. */
  onKept?: () => void;
  /** Hears of a question that got no whole answer, to be put back. */
  onUnanswered?: (turn: Turn, error: TurnError) => void;
  /** Hears after a reload which question was answered last, and the files of it. */
  onAnswered?: (question: string, attachments: Attached[]) => void;
};
export type Replies = ReturnType<typeof useReplies>;

const refusedTurn = ({ question, attachments, error }: Refused): Turn => ({
  ...newTurn(question, attachments),
  startedMs: undefined,
  isLive: false,
  isRefused: true,
  error,
});

/** The turns of a conversation, and the streams that they come from. */
export function useReplies({ agentId, from, refused, ...given }: ChatOptions) {
  const [turns, setTurns] = useState<Turn[]>(() => (refused ? [refusedTurn(refused)] : []));
  const change = useCallback(
    (id: string, next: (turn: Turn) => Turn) =>
      setTurns((all) => all.map((turn) => (turn.id === id ? next(turn) : turn))),
    [],
  );
  const conversation = useRef("");
  /** By the turn that each shows. */
  const running = useRef(new Map<string, AbortController>());
  const abortAll = useCallback(() => {
    for (const one of running.current.values()) one.abort();
  }, []);
  const latest = useRef({ ...given, from });
  latest.current = { ...given, from: latest.current.from };

  /** Say why a turn failed. If the server kept nothing of it, it is gone with the next one. */
  const fail = useCallback(
    (turn: Turn, error: unknown, isRefused: boolean) => {
      const said = turnErrorOf(asApiError(error));
      change(turn.id, (one) => ({ ...one, stop: undefined, error: said, isRefused }));
      latest.current.onUnanswered?.(turn, said);
    },
    [change],
  );

  /** Show a reply to its end. */
  const follow = useCallback(
    async (turn: Turn, open: OpenReply) => {
      const control = new AbortController();
      running.current.set(turn.id, control);
      let now = turn;
      const keep = (part: Omit<StoredChat, "conversationId"> = {}) =>
        storeChat(agentId, { conversationId: conversation.current, ...part });
      const keepTurn = ({ messageId, question, attachments, text }: Turn) =>
        keep({ messageId, question, attachments, text });
      try {
        now = await followReply({
          agentId,
          turn,
          open,
          signal: control.signal,
          onStart: (id, messageId) => {
            conversation.current = id;
            latest.current.onKept?.();
            keepTurn({ ...turn, messageId, text: "" });
          },
          onChange: (state) => {
            if (state.isLost && !now.isLost) keepTurn(state);
            now = state;
            change(turn.id, (before) => ({ ...state, rating: before.rating }));
          },
        });
        if (control.signal.aborted) return;
        keep();
        if (now.error) latest.current.onUnanswered?.(now, now.error);
      } catch (error) {
        if (control.signal.aborted) return;
        // What has come of a reply that the server has not is kept here.
        if (now.messageId) keepTurn(now);
        fail(now, error, !now.messageId);
      } finally {
        running.current.delete(turn.id);
        change(turn.id, (one) => ({ ...one, isLive: false, isLost: false }));
      }
    },
    [agentId, change, fail],
  );
  return { turns, setTurns, change, conversation, running, abortAll, latest, fail, follow };
}
