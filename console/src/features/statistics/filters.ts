import { CHANNELS } from "../../shared/chat/channel";

export const STATISTICS_PERIODS = ["24h", "7d", "30d", "90d"] as const;
export const CALL_STATUSES = ["completed", "failed", "cancelled"] as const;
export type StatisticsPeriod = (typeof STATISTICS_PERIODS)[number];
export const DEFAULT_PERIOD: StatisticsPeriod = "7d";
export type Filters = {
  period?: StatisticsPeriod;
  search?: string;
  status?: (typeof CALL_STATUSES)[number];
  channel?: (typeof CHANNELS)[number];
  page?: number;
};
const HOURS: Record<StatisticsPeriod, number> = { "24h": 24, "7d": 7 * 24, "30d": 30 * 24, "90d": 90 * 24 };
const MAX_SEARCH_LENGTH = 100;

/** Read period and filters from the address; what does not belong there is left out. */
export function readCallFilters(search: Record<string, unknown>): Filters {
  const filters: Filters = {};
  const period = STATISTICS_PERIODS.find((one) => one === search.period && one !== DEFAULT_PERIOD);
  if (period) filters.period = period;
  const text = typeof search.search === "string" || typeof search.search === "number" ? String(search.search) : "";
  if (text) filters.search = text.slice(0, MAX_SEARCH_LENGTH);
  const status = CALL_STATUSES.find((one) => one === search.status);
  if (status) filters.status = status;
  const channel = CHANNELS.find((one) => one === search.channel);
  if (channel) filters.channel = channel;
  const page = Number(search.page);
  if (Number.isInteger(page) && page > 1) filters.page = page;
  return filters;
}

export const hasLogFilters = ({ search, status, channel }: Filters) => Boolean(search || status || channel);

/** The instant at which a period began. */
export const startOf = (period: StatisticsPeriod, now = Date.now()) =>
  new Date(now - HOURS[period] * 3_600_000).toISOString();
