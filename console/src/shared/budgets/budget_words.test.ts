import { expect, test } from "vitest";
import { describeForecast, describeLimit, describeSpent, toneOfBudget } from "./budget_words";
import { type Budget, forecastBudget } from "./forecast";

const NOW = Date.parse("2026-11-16T00:00:00Z");
const budget = (part: Partial<Budget> = {}) =>
  ({
    limit_usd: 200,
    limit_tokens: null,
    period: "month",
    spent: 90,
    soft_percent: 80,
    action: "block",
    resets_at: "2026-12-01T00:00:00.000000Z",
    ...part,
  }) as Budget;
const saidOf = (one: Budget, perDay?: number) => describeForecast(one, forecastBudget(one, perDay, NOW));
const toneOf = (one: Budget, perDay?: number) => toneOfBudget(one, forecastBudget(one, perDay, NOW));

test("a budget that lasts says where it ends", () => {
  expect(saidOf(budget(), 6)).toBe("Ends the month at about $180.00.");
  expect(toneOf(budget(), 6)).toBe("");
});

test("a budget that does not last says on which day it runs out", () => {
  expect(saidOf(budget(), 22)).toBe("Runs out on about 21 Nov.");
  expect(toneOf(budget(), 22)).toBe("warn");
});

test("a budget that is used up says what that means", () => {
  expect(saidOf(budget({ spent: 201 }))).toMatch(/^Used up: chats are refused until 1 Dec/);
  expect(saidOf(budget({ spent: 201, action: "notify" }))).toMatch(/^Over the limit/);
  expect(toneOf(budget({ spent: 200 }))).toBe("bad");
});

test("a budget past its warning is amber", () => {
  expect(toneOf(budget({ spent: 160 }))).toBe("warn");
});

test("a limit is told in its unit", () => {
  expect(describeSpent(budget({ limit_usd: null, limit_tokens: 250, spent: 12 }))).toBe("12 of 250 tokens this month");
  expect(describeLimit(budget({ period: "day" }))).toBe("$200.00 a day");
});
