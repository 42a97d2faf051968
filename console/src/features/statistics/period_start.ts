import type { StatisticsPeriod } from "./filters";

const HOURS: Record<StatisticsPeriod, number> = { "24h": 24, "7d": 7 * 24, "30d": 30 * 24, "90d": 90 * 24 };

/** The instant at which a period began. */
export const periodStartAt = (period: StatisticsPeriod, now = Date.now()) =>
  new Date(now - HOURS[period] * 3_600_000).toISOString();
