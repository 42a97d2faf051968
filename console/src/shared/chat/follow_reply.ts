import { type ApiError, asApiError, createUnreachableError } from "../../api/errors";
import type { ServerEvent } from "../../api/stream";
import { applyServerEvent, isWaitingTurn, type Turn } from "./chat";
import type { Connection } from "./read_when_back";

const RECONNECT_MS = 5000;
const RETRY_MS = 300;
const MAX_BREAKS = 3;

const isUnfinishedTurn = (turn: Turn) => Boolean(turn.messageId) && (isWaitingTurn(turn) || !(turn.stop || turn.error));
const waitForMs = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Events of one frame are shown together: a hundred words a second must not be a hundred renderings. */
function applyByFrame(apply: (events: ServerEvent[]) => void) {
  let waiting: ServerEvent[] = [];
  let frame = 0;
  const flushEvents = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    if (waiting.length) apply(waiting);
    waiting = [];
  };
  return {
    push(event: ServerEvent) {
      waiting.push(event);
      // A hidden tab has no frames; its events wait until there are many, or until the end.
      frame ||= requestAnimationFrame(flushEvents);
    },
    flush: flushEvents,
  };
}

export type OpenReply = (signal: AbortSignal) => AsyncGenerator<ServerEvent>;
type Following = {
  turn: Turn;
  open: OpenReply;
  /** Ask for what comes after an event. */
  resume: (messageId: string, afterEvent: string, signal: AbortSignal) => AsyncGenerator<ServerEvent>;
  connection: Connection;
  signal: AbortSignal;
  /** Hears the turn after each change. */
  onChange: (turn: Turn) => void;
  /** Hears where the server keeps the turn, as soon as it has it. */
  onStart?: (conversationId: string, messageId: string) => void;
};

/**
 * Show a stream to the end of its reply; returns the turn as it is then, or throws why there is no end.
 *
 * A connection that breaks, also the one that a reload cuts, does not end the reply: once the server is back it is
 * asked for the rest, which it may have finished meanwhile. While a person decides about a call, what comes after the
 * decision is waited for.
 */
export async function followReply(following: Following): Promise<Turn> {
  const { turn, open, resume, connection, signal, onChange, onStart } = following;
  let now = turn;
  let last = "";
  let breaks = 0;
  let next = open;
  const showTurn = (part: Turn) => {
    now = part;
    onChange(now);
  };
  const shown = applyByFrame((events) => showTurn(events.reduce((one, event) => applyServerEvent(one, event), now)));
  const readStream = async (stream: AsyncGenerator<ServerEvent>): Promise<ApiError | undefined> => {
    try {
      for await (const event of stream) {
        if (event.id) last = event.id;
        if (event.event === "message_start") {
          const { conversation_id: id, message_id: messageId } = event.data as Record<string, string>;
          onStart?.(id ?? "", messageId ?? "");
        }
        shown.push(event);
      }
    } catch (error) {
      return asApiError(error);
    } finally {
      shown.flush();
    }
  };
  for (;;) {
    const before = last;
    const failure = await readStream(next(signal));
    if (signal.aborted) return now;
    if (!failure && !isUnfinishedTurn(now)) {
      // A connection that ends before anything has come was no answer.
      if (!now.messageId && !now.error) throw createUnreachableError();
      return now;
    }
    if (failure) {
      const isBreak = Boolean(now.messageId) && (failure.status === 0 || failure.status >= 502);
      breaks = last === before ? breaks + 1 : 0;
      if (!isBreak || breaks > MAX_BREAKS) throw failure;
      if (failure.status) connection.suspect();
      showTurn({ ...now, isLost: true });
      await connection.whenBack(signal);
      showTurn({ ...now, isLost: false });
    }
    if (last === before) await waitForMs(isWaitingTurn(now) ? RECONNECT_MS : RETRY_MS);
    if (signal.aborted) return now;
    next = (control) => resume(now.messageId, last, control);
  }
}
