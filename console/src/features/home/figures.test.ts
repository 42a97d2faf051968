// @vitest-environment jsdom
import { expect, test } from "vitest";
import { budgetReasonKeyOf } from "./budget_words";
import { describeBudget } from "./figures";
import type { Need, Today } from "./queries";

const budget = (spent: number, period = "month") =>
  ({ spent, period, limit_usd: null, limit_tokens: 100 }) as unknown as Today["budget"];

test("the cost says how much of a budget is used, or that it is over", () => {
  expect(describeBudget(budget(25), 0)).toBe("25% of the month's budget");
  expect(describeBudget(budget(182_900, "day"), 0)).toBe("Over the day's budget");
});

test("without a budget of the organization it counts those of agents", () => {
  expect(describeBudget(null, 0)).toBe("No budget");
  expect(describeBudget(null, 1)).toBe("1 budget of an agent");
});

test("a budget far above its limit is over it", () => {
  const need = (percent: number) => ({ title_code: "budget_spent", params: { percent } }) as unknown as Need;
  expect(budgetReasonKeyOf(need(182_900))).toBe("budget_over_why");
  expect(budgetReasonKeyOf(need(100))).toBe("budget_spent_why");
});
