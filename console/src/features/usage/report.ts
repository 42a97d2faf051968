import type { components } from "../../api/schema";
import { chooseHues, type Hue } from "../../shared/marks/hues";
import type { UsageGroup, UsageMeasure, UsagePeriodName } from "./filters";

export type UsageRow = components["schemas"]["UsageRow"];
export type UsageCounters = components["schemas"]["Counters"];
type Counted = Pick<UsageCounters, "estimated_cost_usd" | "total_tokens" | "chat_requests" | "unpriced_tokens">;
/** What one agent, model, person, channel or key used; `id` is null for usage that belongs to none. */
export type GroupUsage = Counted & { id: string | null };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const STEPS: Record<UsagePeriodName, { count: number; length: number }> = {
  "24h": { count: 24, length: HOUR },
  "7d": { count: 7, length: DAY },
  "30d": { count: 30, length: DAY },
  "90d": { count: 90, length: DAY },
};
/** How the API names usage without an agent, person or key. */
const NO_GROUP = "null";
const MAX_SERIES = 5;
export const GROUPS_PER_PAGE = 20;

/** The hours or days (UTC) of a period, the current one last, and the moment at which the period before began. */
export function stepsOf(period: UsagePeriodName, now: number) {
  const { count, length } = STEPS[period];
  const last = Math.floor(now / length) * length;
  const starts = Array.from({ length: count }, (_, i) => last - (count - 1 - i) * length);
  const first = starts[0] ?? last;
  return {
    granularity: length === HOUR ? ("hour" as const) : ("day" as const),
    starts: starts.map((at) => new Date(at).toISOString()),
    from: new Date(first).toISOString(),
    before: new Date(first - count * length).toISOString(),
  };
}

export const amountOf = (counted: Counted, measure: UsageMeasure): number =>
  measure === "cost" ? counted.estimated_cost_usd : measure === "tokens" ? counted.total_tokens : counted.chat_requests;

/** What each group used over all rows, the largest first; what only requests or files belong to is left out. */
export function rankGroups(rows: UsageRow[], by: UsageGroup, measure: UsageMeasure): GroupUsage[] {
  const groups = new Map<string | null, GroupUsage>();
  for (const row of rows) {
    const id = row.group[by] ?? null;
    const sum = groups.get(id) ?? { id, estimated_cost_usd: 0, total_tokens: 0, chat_requests: 0, unpriced_tokens: 0 };
    groups.set(id, {
      id,
      estimated_cost_usd: sum.estimated_cost_usd + row.estimated_cost_usd,
      total_tokens: sum.total_tokens + row.total_tokens,
      chat_requests: sum.chat_requests + row.chat_requests,
      unpriced_tokens: sum.unpriced_tokens + row.unpriced_tokens,
    });
  }
  return [...groups.values()]
    .filter((one) => one.estimated_cost_usd || one.total_tokens || one.chat_requests)
    .sort((a, b) => amountOf(b, measure) - amountOf(a, measure) || b.total_tokens - a.total_tokens);
}

export const groupsOfPage = (groups: GroupUsage[], page: number) =>
  groups.slice((page - 1) * GROUPS_PER_PAGE, page * GROUPS_PER_PAGE);

/** The largest groups, which the chart draws in hues of their own. */
export const drawnGroups = (groups: GroupUsage[]) => groups.slice(0, MAX_SERIES);

/** The hue of each drawn group; what belongs to none, and all others, are grey. */
export const huesOf = (groups: GroupUsage[]): Map<string, Hue> =>
  chooseHues(drawnGroups(groups).flatMap(({ id }) => id ?? []));

/** The ids with which the API is asked for these groups. */
export const toGroupIds = (groups: GroupUsage[]) => groups.map(({ id }) => id ?? NO_GROUP).join(",");

const atMs = (start: string) => Date.parse(start);

/** The course of one group: an amount for each hour or day, 0 where it used nothing. */
export function courseOf(
  rows: UsageRow[],
  by: UsageGroup | null,
  id: string | null,
  measure: UsageMeasure,
  starts: string[],
): number[] {
  const amounts = new Map<number, number>();
  for (const row of rows) {
    if (by && (row.group[by] ?? null) !== id) continue;
    amounts.set(atMs(row.start), (amounts.get(atMs(row.start)) ?? 0) + amountOf(row, measure));
  }
  return starts.map((start) => amounts.get(atMs(start)) ?? 0);
}

/** What all but the drawn groups used; rounding never makes it less than nothing. */
export const restOf = (all: number[], drawn: number[][]): number[] =>
  all.map((total, place) => {
    const rest = total - drawn.reduce((sum, values) => sum + (values[place] ?? 0), 0);
    return rest > total * 1e-9 ? rest : 0;
  });

/** A sum in dollars: unknown if nothing of it has a price, and at least so much if only a part has. */
export function costOf({ estimated_cost_usd: usd, unpriced_tokens: unpriced }: Counted) {
  return { usd: unpriced > 0 && usd === 0 ? null : usd, isPart: unpriced > 0 };
}
