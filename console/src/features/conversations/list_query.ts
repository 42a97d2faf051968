import type { ConversationFilters, ConversationPeriod } from "./filters";

const HOURS: Record<ConversationPeriod, number> = { "24h": 24, "7d": 7 * 24, "30d": 30 * 24, "90d": 90 * 24 };
const HOUR_MS = 3_600_000;

export const hasConversationFilters = ({ page: _, ...filters }: ConversationFilters) =>
  Object.values(filters).some((value) => value !== undefined);

/** What the list and its export are asked for: the same conversations. */
export function toConversationQuery(filters: ConversationFilters, now = Date.now()) {
  const { search, show, period, agent, version, channel, person, rating, outcome, cost, status } = filters;
  const from = period ? new Date(now - HOURS[period] * HOUR_MS).toISOString() : startOfDay(filters.from);
  const to = period ? undefined : startOfDay(filters.to, 1);
  return {
    ...(search ? { search } : {}),
    ...(show ? { needs_look: true } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(agent ? { agent_id: agent } : {}),
    ...(agent && version ? { version } : {}),
    ...(channel ? { channel } : {}),
    ...(person ? { user_id: person } : {}),
    ...(rating ? { rating } : {}),
    ...(outcome ? { failed: outcome === "failed" } : {}),
    ...(cost ? { min_cost_usd: cost } : {}),
    ...(status ? { status } : {}),
  };
}

/** Return the beginning of a day in the time zone of the browser, moved on by a number of days. */
function startOfDay(day: string | undefined, later = 0): string | undefined {
  const [year, month, date] = (day ?? "").split("-").map(Number);
  return year && month && date ? new Date(year, month - 1, date + later).toISOString() : undefined;
}
