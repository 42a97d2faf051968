import { expect, it } from "vitest";
import type { LoggedEvent } from "./queries";
import {
  addEvents,
  addHistory,
  countLastMinute,
  emptyTail,
  holdTail,
  isTailFull,
  MOST_ROWS,
  releaseTail,
} from "./tail";

const at = (second: number) => new Date(Date.UTC(2026, 10, 18, 9, 0, second)).toISOString();
const event = (second: number, id = `evt_${second}`) => ({ id, created_at: at(second) }) as LoggedEvent;
const ids = (rows: readonly LoggedEvent[]) => rows.map(({ id }) => id);

it("shows the newest first, each event once, and what is late where it happened", () => {
  const past = addHistory(emptyTail, [event(3), event(1)]);
  const now = addEvents(addEvents(past, [event(3), event(5)]), [event(2)]);
  expect(ids(now.rows)).toEqual(["evt_5", "evt_3", "evt_2", "evt_1"]);
  expect(addEvents(now, [event(5)])).toBe(now);
  expect(ids(addHistory(now, [event(1), event(0)]).rows).at(-1)).toBe("evt_0");
});

it("counts what comes while it is held, and shows it afterwards", () => {
  const held = addEvents(addEvents(holdTail(addHistory(emptyTail, [event(1)])), [event(2), event(3)]), [event(3)]);
  expect([ids(held.rows), ids(held.held)]).toEqual([["evt_1"], ["evt_3", "evt_2"]]);
  const released = releaseTail(held);
  expect([ids(released.rows), released.held, released.isHeld]).toEqual([["evt_3", "evt_2", "evt_1"], [], false]);
});

it("keeps the newest 2,000", () => {
  const many = Array.from({ length: MOST_ROWS + 5 }, (_, place) => event(place));
  const full = addEvents(emptyTail, many);
  expect(full.rows).toHaveLength(MOST_ROWS);
  expect([isTailFull(full), isTailFull(addEvents(emptyTail, many.slice(6)))]).toEqual([true, false]);
  expect(full.rows[0]?.id).toBe(`evt_${MOST_ROWS + 4}`);
  expect(addEvents(holdTail(emptyTail), many).held).toHaveLength(MOST_ROWS);
});

it("counts the last minute", () => {
  const tail = addEvents(emptyTail, [event(0), event(50), event(70)]);
  expect(countLastMinute(tail, Date.parse(at(80)))).toBe(2);
});
