import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useReducer } from "react";
import { checkServer } from "../../api/connection";
import { openEventStream } from "../../api/stream";
import type { EventFilters } from "./filters";
import { eventHistoryQuery, eventQueryOf, type LoggedEvent } from "./queries";
import { addEvents, addHistory, emptyTail, holdTail, releaseTail, type Tail } from "./tail";

type Change =
  | { kind: "arrived"; events: LoggedEvent[] }
  | { kind: "read"; events: readonly LoggedEvent[] }
  | { kind: "hold" | "release" };
const RETRY_MS = 5_000;
/** Events that come together are drawn together. */
const GATHER_MS = 120;

function changeTail(tail: Tail, change: Change): Tail {
  if (change.kind === "arrived") return addEvents(tail, change.events);
  if (change.kind === "read") return addHistory(tail, change.events);
  return change.kind === "hold" ? holdTail(tail) : releaseTail(tail);
}

/** Follow the log from now on, and again from where it broke off. Returns how to stop. */
function followEventLog(query: string, onEvents: (events: LoggedEvent[]) => void, onGap: () => void) {
  const control = new AbortController();
  let lastId = "";
  let isReady = false;
  let gathered: LoggedEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const handGathered = () => {
    timer = undefined;
    onEvents(gathered.splice(0));
  };
  const followStream = async (): Promise<void> => {
    try {
      const headers: Record<string, string> = lastId ? { "Last-Event-ID": lastId } : {};
      const init = { signal: control.signal, headers };
      for await (const { event, data, id } of openEventStream(`/api/v1/event-log/stream?${query}`, init)) {
        if (id) lastId = id;
        // Between the reading of the log and the first word of the stream something may have happened.
        if (event === "gap" || (event === "ready" && !isReady)) onGap();
        isReady = true;
        if (event !== "event") continue;
        gathered = [...gathered, data as LoggedEvent];
        timer ??= setTimeout(handGathered, GATHER_MS);
      }
      if (!control.signal.aborted) checkServer();
    } catch {
      // The page says that the server is gone; the stream goes on where it was.
    }
    if (!control.signal.aborted) setTimeout(() => void followStream(), RETRY_MS);
  };
  void followStream();
  return () => {
    clearTimeout(timer);
    control.abort();
  };
}

/** The log as it grows, with what was before as far back as somebody asked for. */
export function useEventTail(filters: EventFilters) {
  const history = useInfiniteQuery(eventHistoryQuery(filters));
  const [tail, change] = useReducer(changeTail, emptyTail);
  const { data, refetch } = history;
  useEffect(() => {
    if (data) change({ kind: "read", events: data.pages.flat() });
  }, [data]);
  const query = new URLSearchParams(eventQueryOf(filters)).toString();
  useEffect(
    () =>
      followEventLog(
        query,
        (events) => change({ kind: "arrived", events }),
        () => void refetch(),
      ),
    [query, refetch],
  );
  return { tail, history, hold: () => change({ kind: "hold" }), release: () => change({ kind: "release" }) };
}
