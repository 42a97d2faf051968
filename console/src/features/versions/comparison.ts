import { useCallback, useEffect, useReducer, useRef } from "react";
import { checkServer, waitUntilServerBack } from "../../api/connection";
import { asApiError } from "../../api/errors";
import {
  createTurn,
  openReplyStream,
  resumeReplyStream,
  type Turn,
  type TurnError,
  toTurnError,
} from "../../shared/chat/chat";
import { followReply } from "../../shared/chat/follow_reply";
import type { VersionName } from "../../shared/versions/queries";

export const MIN_COLUMNS = 2;
export const MAX_COLUMNS = 4;

export type TimedTurn = Turn & { startedAt: number; firstWordMs?: number; totalMs?: number };
export type Column = { id: number; version: VersionName; model: string; conversationId: string; turns: TimedTurn[] };

type Action =
  | { do: "add"; column: Column }
  | { do: "remove"; id: number }
  | { do: "choose"; id: number; version: VersionName; model: string }
  | { do: "ask"; turns: Record<number, TimedTurn> }
  | { do: "start"; id: number; conversationId: string }
  | { do: "show"; id: number; turn: Turn; at: number }
  | { do: "end"; id: number; turnId: string; error?: TurnError }
  | { do: "clear" };

/** The turn as it is now, with the moments that matter. */
export function recordTurnTimes(turn: TimedTurn, now: Turn, at: number): TimedTurn {
  const next = { ...turn, ...now };
  const passed = at - turn.startedAt;
  if (now.text && turn.firstWordMs === undefined) next.firstWordMs = passed;
  // A reply that waited for an approval has an end after that one.
  if (now.stop && now.stop !== turn.stop) next.totalMs = passed;
  return next;
}

const changeTurn = (column: Column, turnId: string, next: (turn: TimedTurn) => TimedTurn): Column => ({
  ...column,
  turns: column.turns.map((turn) => (turn.id === turnId ? next(turn) : turn)),
});

function changeColumn(column: Column, action: Action): Column {
  switch (action.do) {
    case "choose":
      // Another version or model begins a conversation of its own.
      return { ...column, version: action.version, model: action.model, conversationId: "", turns: [] };
    case "start":
      return { ...column, conversationId: action.conversationId };
    case "show":
      return changeTurn(column, action.turn.id, (turn) => recordTurnTimes(turn, action.turn, action.at));
    case "end":
      return changeTurn(column, action.turnId, (turn) => ({
        ...turn,
        isLive: false,
        isLost: false,
        error: turn.error ?? action.error,
      }));
    default:
      return column;
  }
}

function changeColumns(columns: Column[], action: Action): Column[] {
  switch (action.do) {
    case "add":
      return [...columns, action.column];
    case "remove":
      return columns.filter(({ id }) => id !== action.id);
    case "ask":
      return columns.map((column) => {
        const turn = action.turns[column.id];
        if (!turn) return column;
        // A question that is asked once more takes the place of the one without an answer.
        const kept = column.turns.filter((one) => !(one.error && !one.text && one.question === turn.question));
        return { ...column, turns: [...kept, turn] };
      });
    case "clear":
      return columns.map((column) => ({ ...column, conversationId: "", turns: [] }));
    default:
      return columns.map((column) => (column.id === action.id ? changeColumn(column, action) : column));
  }
}

const askOptionsOf = ({ version, model }: Column) => ({ version, ...(model ? { model } : {}) });

type Hearing = { onAsk: (question: string) => void; onOver: (question: string, isAnswered: boolean) => void };

/** Columns that answer the same questions, each with its own version, model and conversation. */
export function useComparison(agentId: string, versions: VersionName[], { onAsk, onOver }: Hearing) {
  const [columns, dispatch] = useReducer(changeColumns, versions, (all) =>
    all.map((version, id): Column => ({ id, version, model: "", conversationId: "", turns: [] })),
  );
  const lastId = useRef(versions.length);
  /** By their columns. */
  const running = useRef(new Map<number, AbortController>());
  const lastAsked = useRef({});
  const stop = useCallback(() => {
    for (const one of running.current.values()) one.abort();
  }, []);
  useEffect(() => stop, [stop]);

  /** Show the answer of a column; returns whether one has come. */
  const runTurn = async (column: Column, turn: TimedTurn): Promise<boolean> => {
    // A reply that waits for an approval has not ended: it is no longer waited for.
    running.current.get(column.id)?.abort();
    const control = new AbortController();
    running.current.set(column.id, control);
    const { signal } = control;
    let error: TurnError | undefined;
    let now: Turn = turn;
    try {
      now = await followReply({
        turn,
        signal,
        connection: { suspect: checkServer, whenBack: waitUntilServerBack },
        open: (until) => openReplyStream(agentId, turn.question, column.conversationId, until, askOptionsOf(column)),
        resume: (messageId, afterEvent, until) => resumeReplyStream(agentId, messageId, afterEvent, until),
        onStart: (conversationId) => dispatch({ do: "start", id: column.id, conversationId }),
        onChange: (state) => {
          now = state;
          dispatch({ do: "show", id: column.id, turn: state, at: performance.now() });
        },
      });
    } catch (reason) {
      error = toTurnError(asApiError(reason));
    }
    dispatch({ do: "end", id: column.id, turnId: turn.id, error: signal.aborted ? undefined : error });
    return signal.aborted || Boolean(now.text) || !(error ?? now.error);
  };
  const askInColumns = async (asked: Column[], question: string) => {
    onAsk(question);
    const asking = {};
    lastAsked.current = asking;
    const startedAt = performance.now();
    const turns = Object.fromEntries(asked.map(({ id }) => [id, { ...createTurn(question), startedAt }]));
    dispatch({ do: "ask", turns });
    const answered = await Promise.all(asked.map((column) => runTurn(column, turns[column.id] as TimedTurn)));
    // A single column without an answer can be asked once more where it stands.
    if (lastAsked.current === asking) onOver(question, answered.includes(true));
  };
  return {
    columns,
    isLive: columns.some(({ turns }) => turns.some(({ isLive }) => isLive)),
    ask: (question: string) => void askInColumns(columns, question),
    /** Ask the last question of a column once more, in this column only. */
    askAgain: (id: number) => {
      const column = columns.find((one) => one.id === id);
      const last = column?.turns.at(-1);
      if (column && last) void askInColumns([column], last.question);
    },
    stop,
    clear: () => {
      stop();
      dispatch({ do: "clear" });
    },
    add: (version: VersionName) =>
      dispatch({ do: "add", column: { id: lastId.current++, version, model: "", conversationId: "", turns: [] } }),
    remove: (id: number) => {
      running.current.get(id)?.abort();
      dispatch({ do: "remove", id });
    },
    choose: (id: number, version: VersionName, model: string) => {
      running.current.get(id)?.abort();
      dispatch({ do: "choose", id, version, model });
    },
  };
}
