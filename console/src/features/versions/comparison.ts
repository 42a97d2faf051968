import { useEffect, useReducer, useRef } from "react";
import { asApiError } from "../../api/errors";
import { openStream, type ServerEvent } from "../../api/stream";
import { newTurn, type Turn, withEvent } from "../../shared/chat/chat";
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
  | { do: "event"; id: number; turnId: string; event: ServerEvent; at: number }
  | { do: "end"; id: number; turnId: string; error?: { code: string; message: string } }
  | { do: "clear" };

/** The turn after an event, with the moments that matter. */
export function timed(turn: TimedTurn, event: ServerEvent, at: number): TimedTurn {
  const next = { ...turn, ...withEvent(turn, event) };
  const passed = at - turn.startedAt;
  if (event.event === "content_delta" && turn.firstWordMs === undefined) next.firstWordMs = passed;
  if (event.event === "message_stop") next.totalMs = passed;
  return next;
}

const changeTurn = (column: Column, turnId: string, next: (turn: TimedTurn) => TimedTurn): Column => ({
  ...column,
  turns: column.turns.map((turn) => (turn.id === turnId ? next(turn) : turn)),
});

function one(column: Column, action: Action): Column {
  switch (action.do) {
    case "choose":
      // Another version or model begins a conversation of its own.
      return { ...column, version: action.version, model: action.model, conversationId: "", turns: [] };
    case "event": {
      const started = action.event.event === "message_start" && (action.event.data as { conversation_id: string });
      const changed = changeTurn(column, action.turnId, (turn) => timed(turn, action.event, action.at));
      return started ? { ...changed, conversationId: started.conversation_id } : changed;
    }
    case "end":
      return changeTurn(column, action.turnId, (turn) => ({
        ...turn,
        isLive: false,
        error: turn.error ?? action.error,
      }));
    default:
      return column;
  }
}

function reduce(columns: Column[], action: Action): Column[] {
  switch (action.do) {
    case "add":
      return [...columns, action.column];
    case "remove":
      return columns.filter(({ id }) => id !== action.id);
    case "ask":
      return columns.map((column) => {
        const turn = action.turns[column.id];
        return turn ? { ...column, turns: [...column.turns, turn] } : column;
      });
    case "clear":
      return columns.map((column) => ({ ...column, conversationId: "", turns: [] }));
    default:
      return columns.map((column) => (column.id === action.id ? one(column, action) : column));
  }
}

const bodyOf = (column: Column, message: string) =>
  JSON.stringify({
    message,
    version: column.version,
    ...(column.model ? { model: column.model } : {}),
    ...(column.conversationId ? { conversation_id: column.conversationId } : {}),
  });

/** Columns that answer the same questions, each with its own version, model and conversation. */
export function useComparison(agentId: string, versions: VersionName[]) {
  const [columns, dispatch] = useReducer(reduce, versions, (all) =>
    all.map((version, id): Column => ({ id, version, model: "", conversationId: "", turns: [] })),
  );
  const lastId = useRef(versions.length);
  const running = useRef(new AbortController());
  useEffect(() => () => running.current.abort(), []);

  const run = async (column: Column, turn: TimedTurn, control: AbortController) => {
    const place = { id: column.id, turnId: turn.id };
    let error: { code: string; message: string } | undefined;
    try {
      const path = `/api/v1/agents/${agentId}/chat/stream?include=sub_agents`;
      const stream = openStream(path, { method: "POST", body: bodyOf(column, turn.question), signal: control.signal });
      for await (const event of stream) dispatch({ do: "event", ...place, event, at: performance.now() });
    } catch (reason) {
      const { code, message } = asApiError(reason);
      if (!control.signal.aborted) error = { code, message };
    }
    dispatch({ do: "end", ...place, error });
  };
  const ask = (question: string) => {
    running.current = new AbortController();
    const startedAt = performance.now();
    const turns = Object.fromEntries(columns.map(({ id }) => [id, { ...newTurn(question), startedAt }]));
    dispatch({ do: "ask", turns });
    for (const column of columns) void run(column, turns[column.id] as TimedTurn, running.current);
  };
  return {
    columns,
    isLive: columns.some(({ turns }) => turns.some(({ isLive }) => isLive)),
    ask,
    stop: () => running.current.abort(),
    clear: () => {
      running.current.abort();
      dispatch({ do: "clear" });
    },
    add: (version: VersionName) =>
      dispatch({ do: "add", column: { id: lastId.current++, version, model: "", conversationId: "", turns: [] } }),
    remove: (id: number) => dispatch({ do: "remove", id }),
    choose: (id: number, version: VersionName, model: string) => dispatch({ do: "choose", id, version, model }),
  };
}
