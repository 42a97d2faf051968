import type { TRACE_PERIODS, TraceFilters } from "./filters";

const HOURS: Record<(typeof TRACE_PERIODS)[number], number> = { "1h": 1, "24h": 24, "7d": 7 * 24, "30d": 30 * 24 };
const HOUR_MS = 3_600_000;
/** By duration the server reads every trace of the period, so there has to be one. */
const PERIOD_OF_SLOWEST = "24h";

export const hasTraceFilters = ({ show, kind, period, agent }: TraceFilters) =>
  Boolean(show || kind || period || agent);

/** The period that counts: the slowest are those of a day, unless another one is chosen. */
export const tracePeriodOf = ({ period, sort }: TraceFilters) =>
  period ?? (sort === "slowest" ? PERIOD_OF_SLOWEST : undefined);

export function toTraceQuery(filters: TraceFilters, now = Date.now()) {
  const { show, kind, agent, sort, page } = filters;
  const period = tracePeriodOf(filters);
  return {
    page: page ?? 1,
    ...(show ? { status: "error" as const } : {}),
    ...(kind ? { kind } : {}),
    ...(period ? { from: new Date(now - HOURS[period] * HOUR_MS).toISOString() } : {}),
    ...(agent ? { agent_id: agent } : {}),
    ...(sort ? { sort: "-duration_ms" as const } : {}),
  };
}
