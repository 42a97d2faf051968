import { describe, expect, it } from "vitest";
import { forecastBudget, lastFullDays } from "./forecast";

const DAY = 86_400_000;
const NOW = Date.parse("2026-11-16T00:00:00Z");
const budget = (part: object = {}) => ({
  limit_usd: 200,
  limit_tokens: null,
  period: "month" as const,
  spent: 90,
  resets_at: "2026-12-01T00:00:00.000000Z",
  ...part,
});

describe("the forecast of a month", () => {
  it("goes on as in the last seven days until its end", () => {
    const forecast = forecastBudget(budget(), 6, NOW);
    expect(forecast.spentShare).toBe(0.45);
    expect(forecast.elapsedShare).toBe(0.5);
    expect(forecast.spentAtEnd).toBeCloseTo(180);
    expect(forecast.endConversationShare).toBeCloseTo(0.9);
    expect(forecast.runsOutAt).toBeNull();
  });
  it("names the day on which the rest is used up", () => {
    const forecast = forecastBudget(budget(), 22, NOW);
    expect(forecast.endConversationShare).toBeGreaterThan(1);
    expect(forecast.runsOutAt).toBe(new Date(NOW + 5 * DAY).toISOString());
  });
  it("does not say that what is used up will run out", () => {
    const forecast = forecastBudget(budget({ spent: 200 }), 22, NOW);
    expect(forecast.spentShare).toBe(1);
    expect(forecast.runsOutAt).toBeNull();
  });
  it("begins with the third day", () => {
    const second = Date.parse("2026-11-02T23:59:00Z");
    const third = Date.parse("2026-11-03T00:00:00Z");
    expect(forecastBudget(budget(), 6, second).spentAtEnd).toBeNull();
    expect(forecastBudget(budget(), 6, third).spentAtEnd).toBeCloseTo(90 + 28 * 6);
  });
  it("waits for the figures of the days", () => {
    expect(forecastBudget(budget(), undefined, NOW).endConversationShare).toBeNull();
    expect(forecastBudget(budget(), 0, NOW).spentAtEnd).toBe(90);
  });
  it("counts a limit in tokens in tokens", () => {
    const tokens = budget({ limit_usd: null, limit_tokens: 1000, spent: 250 });
    expect(forecastBudget(tokens, 50, NOW).endConversationShare).toBeCloseTo(1);
  });
});

describe("a day", () => {
  it("has no forecast, but a today", () => {
    const daily = budget({ period: "day", resets_at: "2026-11-16T00:00:00.000000Z" });
    const forecast = forecastBudget(daily, 6, NOW - DAY / 4);
    expect(forecast.spentAtEnd).toBeNull();
    expect(forecast.elapsedShare).toBe(0.75);
  });
});

describe("the days that a forecast rests on", () => {
  it("are seven full ones before today", () => {
    expect(lastFullDays(NOW + 3 * 3_600_000)).toEqual({
      from: "2026-11-09T00:00:00.000Z",
      to: "2026-11-16T00:00:00.000Z",
    });
  });
});
