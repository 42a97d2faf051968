import { describe, expect, it } from "vitest";
import { type Breakdown, computeRatingShares, summarizeCost } from "./figures_of";
import { readCallFilters } from "./filters";
import { periodStartAt } from "./period_start";

const stats = (part: Partial<Breakdown>) =>
  ({ estimated_cost_usd: 0, unpriced_calls: 0, models: [], ...part }) as Breakdown;
const model = (calls: number, unpriced_calls: number) => ({ calls, unpriced_calls }) as Breakdown["models"][number];

describe("costs", () => {
  it("are known, known in part, or unknown", () => {
    expect(summarizeCost(stats({ estimated_cost_usd: 2, models: [model(4, 0)] }))).toEqual({
      usd: 2,
      unpriced: 0,
      calls: 4,
    });
    expect(summarizeCost(stats({ estimated_cost_usd: 2, unpriced_calls: 1, models: [model(4, 1)] })).usd).toBe(2);
    expect(summarizeCost(stats({ unpriced_calls: 4, models: [model(4, 4)] })).usd).toBeNull();
    expect(summarizeCost(stats({ models: [model(4, 0)] })).usd).toBe(0);
  });
});

describe("shares", () => {
  it("are none without anything to share", () => {
    expect(
      computeRatingShares({ successful_messages: 0, failed_messages: 0, positive_feedback: 0, negative_feedback: 0 }),
    ).toEqual({
      success: null,
      liked: null,
    });
    expect(
      computeRatingShares({ successful_messages: 3, failed_messages: 1, positive_feedback: 1, negative_feedback: 1 }),
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
    expect(periodStartAt("24h", Date.parse("2026-11-17T12:00:00Z"))).toBe("2026-11-16T12:00:00.000Z");
  });
});
