import { describe, expect, it } from "vitest";
import { type Breakdown, costOf, sharesOf } from "./figures_of";
import { readCallFilters, startOf } from "./filters";
import { labelledPlaces, lonePoints, pathOf, ticksOf } from "./scale";

const stats = (part: Partial<Breakdown>) =>
  ({ estimated_cost_usd: 0, unpriced_calls: 0, models: [], ...part }) as Breakdown;
const model = (calls: number, unpriced_calls: number) => ({ calls, unpriced_calls }) as Breakdown["models"][number];

describe("the scale of a chart", () => {
  it("ends at a round number above the largest value", () => {
    expect(ticksOf(0)).toEqual([0, 1]);
    expect(ticksOf(7)).toEqual([0, 5, 10]);
    expect(ticksOf(60)).toEqual([0, 20, 40, 60]);
    expect(ticksOf(1900).at(-1)).toBe(2000);
  });
  it("labels few places, the last one among them", () => {
    expect(labelledPlaces(7)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(labelledPlaces(24)).toEqual([3, 7, 11, 15, 19, 23]);
    expect(labelledPlaces(90)).toHaveLength(7);
  });
  it("interrupts a line where nothing is known", () => {
    const path = pathOf(
      [1, 2, null, 3],
      (at) => at,
      (value) => value,
    );
    expect(path.match(/M/g)).toHaveLength(2);
    expect(path.endsWith("M3.00 3.00L3.00 3.00")).toBe(true);
    expect(pathOf([null, null], Number, Number)).toBe("");
    expect(lonePoints([4, null, 2, 3, null, 5])).toEqual([4, null, null, null, null, 5]);
  });
});

describe("costs", () => {
  it("are known, known in part, or unknown", () => {
    expect(costOf(stats({ estimated_cost_usd: 2, models: [model(4, 0)] }))).toEqual({ usd: 2, unpriced: 0, calls: 4 });
    expect(costOf(stats({ estimated_cost_usd: 2, unpriced_calls: 1, models: [model(4, 1)] })).usd).toBe(2);
    expect(costOf(stats({ unpriced_calls: 4, models: [model(4, 4)] })).usd).toBeNull();
    expect(costOf(stats({ models: [model(4, 0)] })).usd).toBe(0);
  });
});

describe("shares", () => {
  it("are none without anything to share", () => {
    expect(
      sharesOf({ successful_messages: 0, failed_messages: 0, positive_feedback: 0, negative_feedback: 0 }),
    ).toEqual({
      success: null,
      liked: null,
    });
    expect(
      sharesOf({ successful_messages: 3, failed_messages: 1, positive_feedback: 1, negative_feedback: 1 }),
    ).toEqual({
      success: 0.75,
      liked: 0.5,
    });
  });
});

describe("the address", () => {
  it("holds period and filters, and nothing else", () => {
    expect(readCallFilters({ period: "30d", status: "failed", channel: "public", search: 12, page: 2 })).toEqual({
      period: "30d",
      status: "failed",
      channel: "public",
      search: "12",
      page: 2,
    });
    expect(readCallFilters({ period: "7d", status: "x", channel: "y", page: 1, more: true })).toEqual({});
  });
  it("begins a period by hours", () => {
    expect(startOf("24h", Date.parse("2026-11-17T12:00:00Z"))).toBe("2026-11-16T12:00:00.000Z");
  });
});
