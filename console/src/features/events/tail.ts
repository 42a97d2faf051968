import type { LoggedEvent } from "./queries";

export const MOST_ROWS = 2_000;
export const RATE_SECONDS = 60;
/** What the log shows: newest first, and what came while it was held. */
export type Tail = { rows: LoggedEvent[]; held: LoggedEvent[]; isHeld: boolean; fresh: ReadonlySet<string> };
export const emptyTail: Tail = { rows: [], held: [], isHeld: false, fresh: new Set() };

const isNewer = (one: LoggedEvent, other: LoggedEvent) => other.created_at < one.created_at;

/** Both lists as one, newest first, each event once; what is older than the newest 2,000 goes. */
export function mergeEvents(newer: readonly LoggedEvent[], older: readonly LoggedEvent[]): LoggedEvent[] {
  const known = new Set<string>();
  const all = [...newer, ...older].filter(({ id }) => !known.has(id) && known.add(id));
  // What is committed late belongs where it happened. The order of what happened at once stays.
  return all.sort((one, other) => (isNewer(one, other) ? -1 : isNewer(other, one) ? 1 : 0)).slice(0, MOST_ROWS);
}

/** Whether anything older that is read would be cut off at once. */
export const isTailFull = ({ rows }: Tail): boolean => rows.length >= MOST_ROWS;

/** A part of the past was read. */
export const addHistory = (tail: Tail, past: readonly LoggedEvent[]): Tail => ({
  ...tail,
  rows: mergeEvents(tail.rows, past),
});

/** Something happened: it is shown at once, or counted while the log is held. */
export function addEvents(tail: Tail, events: readonly LoggedEvent[]): Tail {
  const known = new Set([...tail.rows, ...tail.held].map(({ id }) => id));
  const fresh = events.filter(({ id }) => !known.has(id)).reverse();
  if (!fresh.length) return tail;
  if (tail.isHeld) return { ...tail, held: mergeEvents(fresh, tail.held) };
  return { ...tail, rows: mergeEvents(fresh, tail.rows), fresh: new Set(fresh.map(({ id }) => id)) };
}

export const holdTail = (tail: Tail): Tail => (tail.isHeld ? tail : { ...tail, isHeld: true });

/** What was held is shown, and from now on everything again. */
export const releaseTail = (tail: Tail): Tail => ({
  rows: mergeEvents(tail.held, tail.rows),
  held: [],
  isHeld: false,
  fresh: new Set(tail.held.map(({ id }) => id)),
});

/** How many happened in the last minute, by the events that are known. */
export function countLastMinute({ rows, held }: Tail, now: number): number {
  const since = new Date(now - RATE_SECONDS * 1000).toISOString();
  return [...rows, ...held].filter(({ created_at }) => created_at >= since).length;
}
