import { CHANNELS } from "../../shared/channels/channel_keys";
import { createAddressReader, readAnyTextUpTo, readOneOf, readPageNumber } from "../../shared/list/address";

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

/** Read period and filters from the address; what does not belong there is left out. */
export const readCallFilters = createAddressReader<Filters>({
  period: readOneOf(STATISTICS_PERIODS, DEFAULT_PERIOD),
  search: readAnyTextUpTo(100),
  status: readOneOf(CALL_STATUSES),
  channel: readOneOf(CHANNELS),
  page: readPageNumber,
});

export const hasLogFilters = ({ search, status, channel }: Filters) => Boolean(search || status || channel);
