import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { api } from "../../api/client";
import { ApiError, asApiError } from "../../api/errors";
import type { ServerEvent } from "../../api/stream";
import { messagesQuery } from "../trace/queries";
import type { Attached } from "./attachments";
import {
  type AskOptions,
  ask,
  isWaiting,
  newTurn,
  resume,
  type Turn,
  type TurnError,
  turnErrorOf,
  turnsOf,
  withEvent,
} from "./chat";
import { readChat, storeChat } from "./stored_chat";

const RECONNECT_MS = 5000;
const RETRY_MS = 300;
const MAX_BREAKS = 3;
const STOP_MS = 3000;
const isUnfinished = (turn: Turn) => Boolean(turn.messageId) && (isWaiting(turn) || !(turn.stop || turn.error));
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Events of one frame are shown together: a hundred words a second must not be a hundred renderings. */
function framed(apply: (events: ServerEvent[]) => void) {
  let waiting: ServerEvent[] = [];
  let frame = 0;
  const flush = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    if (waiting.length) apply(waiting);
    waiting = [];
  };
  return {
    push(event: ServerEvent) {
      waiting.push(event);
      // A hidden tab has no frames; its events wait until there are many, or until the end.
      frame ||= requestAnimationFrame(flush);
    },
    flush,
  };
}

type Options = { agentId: string; options?: AskOptions; from?: string; beforeSend?: () => Promise<void> };

/** A conversation with an agent that survives a reload and goes on once an approval is decided. */
export function useChat({ agentId, options, from, beforeSend }: Options) {
  const client = useQueryClient();
  const [turns, setTurns] = useState<Turn[]>([]);
  const conversation = useRef("");
  const running = useRef(new Set<AbortController>());
  const abortAll = useCallback(() => {
    for (const one of running.current) one.abort();
  }, []);
  const latest = useRef({ options, beforeSend, from });
  latest.current = { options, beforeSend, from: latest.current.from };
  const change = useCallback(
    (id: string, next: (turn: Turn) => Turn) =>
      setTurns((all) => all.map((turn) => (turn.id === id ? next(turn) : turn))),
    [],
  );

  /** Say why a turn failed. If the server kept nothing of it, it is gone with the next one. */
  const fail = useCallback(
    (turn: Turn, error: unknown, isRefused: boolean) => {
      const said = turnErrorOf(asApiError(error));
      change(turn.id, (one) => ({ ...one, stop: undefined, error: said, isRefused }));
      return isRefused ? said : undefined;
    },
    [change],
  );

  /** Show a stream and, while a person decides about a call, wait for what comes after; returns a refusal. */
  const follow = useCallback(
    async (turn: Turn, open: (signal: AbortSignal) => AsyncGenerator<ServerEvent>): Promise<TurnError | undefined> => {
      const control = new AbortController();
      running.current.add(control);
      let now = turn;
      let last = "";
      const shown = framed((events) => {
        now = events.reduce((one, event) => withEvent(one, event), now);
        const state = now;
        change(turn.id, (before) => ({ ...state, rating: before.rating }));
      });
      const read = async (stream: AsyncGenerator<ServerEvent>) => {
        for await (const event of stream) {
          if (event.id) last = event.id;
          if (event.event === "message_start") {
            const { conversation_id: id, message_id: messageId } = event.data as Record<string, string>;
            conversation.current = id ?? "";
            storeChat(agentId, { conversationId: id ?? "", messageId, question: turn.question });
          }
          shown.push(event);
        }
        shown.flush();
      };
      // A connection that breaks, also the one that a reload cuts, does not end the reply.
      const isBreak = (error: unknown) => Boolean(now.messageId) && asApiError(error).status === 0;
      let breaks = 0;
      let next = open;
      try {
        do {
          const before = last;
          try {
            await read(next(control.signal));
          } catch (error) {
            shown.flush();
            if (control.signal.aborted || !isBreak(error) || ++breaks > MAX_BREAKS) throw error;
          }
          if (last === before) await pause(isWaiting(now) ? RECONNECT_MS : RETRY_MS);
          next = (signal) => resume(agentId, now.messageId, last, signal);
        } while (!control.signal.aborted && isUnfinished(now));
        if (!control.signal.aborted) storeChat(agentId, { conversationId: conversation.current });
      } catch (error) {
        if (!control.signal.aborted) {
          const { status } = asApiError(error);
          // A reply that the server gave up is not asked for again after the next reload.
          if (status) storeChat(agentId, { conversationId: conversation.current });
          return fail(turn, error, Boolean(status) && !now.messageId);
        }
      } finally {
        running.current.delete(control);
        change(turn.id, (one) => ({ ...one, isLive: false }));
      }
    },
    [agentId, change, fail],
  );

  // After a reload: first the reply that is being written, since the server gives it up when nobody listens.
  useEffect(() => {
    let isOver = false;
    const stored = latest.current.from ? undefined : readChat(agentId);
    const read = (id: string) => client.fetchQuery({ ...messagesQuery(id), staleTime: 0 });
    const restore = async () => {
      const { conversationId, messageId, question } = stored ?? { conversationId: latest.current.from ?? "" };
      if (!conversationId) return;
      const live = messageId ? { ...newTurn(question ?? ""), messageId, startedMs: undefined } : undefined;
      if (live) {
        conversation.current = conversationId;
        setTurns([live]);
        void follow(live, (signal) => resume(agentId, messageId ?? "", "0", signal));
      }
      try {
        const all = turnsOf((await read(conversationId)).data).map((turn) => ({ ...turn, askedAt: undefined }));
        if (isOver) return;
        if (stored) conversation.current = conversationId;
        const isRunning = live && !all.some((turn) => turn.messageId === messageId && !isWaiting(turn));
        if (!isRunning) {
          abortAll();
          setTurns(all);
          if (stored) storeChat(agentId, { conversationId });
        } else setTurns((now) => [...all.filter((turn) => turn.messageId && turn.messageId !== messageId), ...now]);
      } catch {
        if (!live) storeChat(agentId);
      }
    };
    void restore();
    return () => {
      isOver = true;
      abortAll();
    };
  }, [agentId, client, follow, abortAll]);

  /** Ask; returns why nothing of it was kept, so that text and files can be given back. */
  const send = async (question: string, attachments: Attached[] = []) => {
    const turn = newTurn(question, attachments);
    setTurns((all) => [...all.filter((one) => !one.isRefused), turn]);
    try {
      await latest.current.beforeSend?.();
    } catch (error) {
      change(turn.id, (one) => ({ ...one, isLive: false }));
      return fail(turn, error, true);
    }
    const seed = !conversation.current && latest.current.from ? { from_conversation_id: latest.current.from } : {};
    const files = attachments.length ? { attachments: attachments.map(({ file_id }) => ({ file_id })) } : {};
    return follow(turn, (signal) =>
      ask(agentId, question, conversation.current, signal, { ...latest.current.options, ...seed, ...files }),
    );
  };
  const live = useMemo(() => turns.find((turn) => turn.isLive || isWaiting(turn)), [turns]);
  const stop = () => {
    if (!live?.messageId) return abortAll();
    const path = { agent_id: agentId, message_id: live.messageId };
    const asked = [...running.current];
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
