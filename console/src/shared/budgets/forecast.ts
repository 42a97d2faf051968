import type { components } from "../../api/schema";

export type Budget = components["schemas"]["BudgetOut"];
export type BudgetForecast = {
  /** Parts of the limit: spent so far, and expected at the end of the period; null while nobody can say. */
  spentShare: number;
  endConversationShare: number | null;
  /** The part of the period that is over. */
  elapsedShare: number;
  /** In the unit of the limit. */
  spentAtEnd: number | null;
  /** The moment at which the rest is used up, if that is before the end. */
  runsOutAt: string | null;
};

const DAY = 86_400_000;
export const PACE_DAYS = 7;
/** A period is forecast from its third day on: before, a single day would decide. */
const FIRST_FORECAST_DAY = 3;

export const limitOf = ({ limit_usd, limit_tokens }: Pick<Budget, "limit_usd" | "limit_tokens">) =>
  limit_usd ?? limit_tokens ?? 0;

/** The seven days before today, in UTC as the server counts. */
export function lastFullDays(now: number): { from: string; to: string } {
  const today = Math.floor(now / DAY) * DAY;
  return { from: new Date(today - PACE_DAYS * DAY).toISOString(), to: new Date(today).toISOString() };
}

function periodStartOf({ period, resets_at }: Pick<Budget, "period" | "resets_at">): number {
  const end = new Date(resets_at);
  if (period === "day") return end.getTime() - DAY;
  return Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1);
}

/** Where a budget will end if it goes on as in the last seven days; `perDay` is undefined while that is unknown. */
export function forecastBudget(
  budget: Pick<Budget, "limit_usd" | "limit_tokens" | "period" | "spent" | "resets_at">,
  perDay: number | undefined,
  now = Date.now(),
): BudgetForecast {
  const limit = limitOf(budget);
  const start = periodStartOf(budget);
  const end = Date.parse(budget.resets_at);
  const elapsed = Math.min(Math.max(now - start, 0), end - start);
  const isKnown =
    perDay !== undefined && budget.period === "month" && Math.floor(elapsed / DAY) + 1 >= FIRST_FORECAST_DAY;
  const spentAtEnd = isKnown ? budget.spent + (perDay * (end - start - elapsed)) / DAY : null;
  const isRunningOut = isKnown && budget.spent < limit && spentAtEnd !== null && spentAtEnd > limit;
  return {
    spentShare: limit ? budget.spent / limit : 0,
    endConversationShare: spentAtEnd === null || !limit ? null : spentAtEnd / limit,
    elapsedShare: elapsed / (end - start),
    spentAtEnd,
    runsOutAt: isRunningOut ? new Date(now + ((limit - budget.spent) / perDay) * DAY).toISOString() : null,
  };
}
