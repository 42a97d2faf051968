import { createAddressReader, readAnyTextUpTo, readOneOf, readPageNumber } from "../../shared/list/address";

export const USAGE_PERIODS = ["24h", "7d", "30d", "90d"] as const;
export const USAGE_GROUPS = ["agent", "model", "user", "channel", "embed_key"] as const;
export const USAGE_MEASURES = ["cost", "tokens", "chats"] as const;
export const PRICE_SOURCES = ["tenant", "instance", "list", "all"] as const;
export type UsagePeriodName = (typeof USAGE_PERIODS)[number];
export type UsageGroup = (typeof USAGE_GROUPS)[number];
export type UsageMeasure = (typeof USAGE_MEASURES)[number];

export type UsageFilters = { period?: UsagePeriodName; by?: UsageGroup; what?: UsageMeasure; page?: number };
export type PriceFilters = {
  source?: Exclude<(typeof PRICE_SOURCES)[number], "tenant">;
  search?: string;
  page?: number;
};

/** Read what is shown from the address; the defaults (30 days, by agent, cost) are left out. */
export const readUsageFilters = createAddressReader<UsageFilters>({
  period: readOneOf(USAGE_PERIODS, "30d"),
  by: readOneOf(USAGE_GROUPS, "agent"),
  what: readOneOf(USAGE_MEASURES, "cost"),
  page: readPageNumber,
});

export const readPriceFilters = createAddressReader<PriceFilters>({
  source: readOneOf(PRICE_SOURCES, "tenant"),
  search: readAnyTextUpTo(200),
  page: readPageNumber,
});
