// @vitest-environment jsdom
import { expect, it } from "vitest";
import { createTurn, type Turn } from "../../shared/chat/chat";
import { numberTurns } from "./numbers";
import type { TurnTrace } from "./queries";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const trace = (id: string, second: number) => ({ trace_id: id, started_at: at(second) }) as TurnTrace;
const turn = (question: string, second: number, traceId?: string): Turn => ({
  ...createTurn(question),
  askedAt: at(second),
  stop: traceId ? ({ trace_id: traceId } as Turn["stop"]) : undefined,
});
const shown = (traces: TurnTrace[], turns: Turn[], hidden = 0) =>
  numberTurns(traces, turns, hidden).map(({ trace: { trace_id: id }, number, question }) => [id, number, question]);

it("numbers a turn by its question, although another one has no trace", () => {
  const turns = [turn("First", 1, "a"), turn("Killed", 5), turn("Third", 9, "c")];
  expect(shown([trace("a", 1)], turns.slice(0, 2))).toEqual([["a", 1, "First"]]);
  expect(shown([trace("a", 1), trace("c", 9)], turns)).toEqual([
    ["a", 1, "First"],
    ["c", 3, "Third"],
  ]);
});

it("finds the question of a turn that failed without a reply", () => {
  const turns = [turn("Killed", 1), turn("Failed", 30), turn("Third", 60, "c")];
  expect(shown([trace("b", 29), trace("c", 60)], turns)).toEqual([
    ["b", 2, "Failed"],
    ["c", 3, "Third"],
  ]);
});

it("counts back from the first turn that is shown", () => {
  expect(shown([trace("a", 1), trace("b", 5), trace("c", 60)], [turn("Third", 60, "c")], 2)).toEqual([
    ["a", 1, ""],
    ["b", 2, ""],
    ["c", 3, "Third"],
  ]);
});
