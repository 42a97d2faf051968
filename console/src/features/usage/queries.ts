import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import { readUsageReport } from "../../shared/usage_report";
import type { PriceFilters, UsageGroup, UsagePeriodName } from "./filters";
import { stepsOf } from "./report";

export type ModelPriceEntry = components["schemas"]["ModelPriceOut"];
export type KeyUsage = components["schemas"]["EmbedKeyOut"];
export const PRICES_PER_PAGE = 50;
export const KEYS_PER_PAGE = 25;
/** What each group used in a period; a row is a month, so that thousands of groups have room in one answer. */
export const groupTotalsQuery = (by: UsageGroup, period: UsagePeriodName) =>
  queryOptions({
    queryKey: ["usage", "groups", by, period],
    queryFn: ({ signal }) =>
      readUsageReport({ from: stepsOf(period, Date.now()).from, granularity: "month", group_by: by }, signal),
    // Another period may stand there for a moment, but not the groups of something else.
    placeholderData: (before, query) => (query?.queryKey[2] === by ? before : undefined),
  });

/** The course of the whole organization over a period. */
export const totalCourseQuery = (period: UsagePeriodName) =>
  queryOptions({
    queryKey: ["usage", "course", period],
    queryFn: ({ signal }) => {
      const { from, granularity } = stepsOf(period, Date.now());
      return readUsageReport({ from, granularity }, signal);
    },
  });

/** The course of a few groups. */
export const groupCourseQuery = (by: UsageGroup, period: UsagePeriodName, ids: string) =>
  queryOptions({
    queryKey: ["usage", "course", period, by, ids],
    queryFn: ({ signal }) => {
      const { from, granularity } = stepsOf(period, Date.now());
      return readUsageReport({ from, granularity, group_by: by, group_ids: ids }, signal);
    },
    enabled: Boolean(ids),
    placeholderData: (before, query) =>
      query?.queryKey[2] === period && query.queryKey[3] === by ? before : undefined,
  });

/** What the period before this one used. */
export const usageBeforeQuery = (period: UsagePeriodName) =>
  queryOptions({
    queryKey: ["usage", "before", period],
    queryFn: ({ signal }) => {
      const { before, from } = stepsOf(period, Date.now());
      return readUsageReport({ from: before, to: from, granularity: "month" }, signal);
    },
    staleTime: 300_000,
  });

/** The limits of the plan and how much of their windows is used now. */
export const planLimitsQuery = queryOptions({
  queryKey: ["usage", "limits"],
  queryFn: ({ signal }) =>
    readUsageReport({ from: new Date(Date.now() - 3_600_000).toISOString(), granularity: "month" }, signal),
});

/** The rows of a period as a file; a row is a month if there are too many of hours or days. */
export async function readUsageFile(by: UsageGroup, period: UsagePeriodName): Promise<string> {
  const { from, granularity } = stepsOf(period, Date.now());
  const readFile = async (step: typeof granularity | "month") => {
    const query = { from, granularity: step, group_by: by, format: "csv" as const };
    const { data } = await api.GET("/api/v1/usage", { params: { query }, parseAs: "text" });
    return String(data);
  };
  return readFile(granularity).catch((error: { status?: number }) => {
    if (error.status === 422) return readFile("month");
    throw error;
  });
}

export const modelPricesQuery = ({ source, search, page }: PriceFilters) =>
  queryOptions({
    queryKey: ["providers", "prices", source ?? "tenant", search, page],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/model-prices", {
          params: {
            query: {
              per_page: PRICES_PER_PAGE,
              page: page ?? 1,
              ...(search ? { search } : {}),
              ...(source === "all" ? {} : { source: source ?? "tenant" }),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const keyUsageQuery = (page: number) =>
  queryOptions({
    queryKey: ["embed", "usage", page],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/embed/api-keys", {
          params: { query: { status: "active", per_page: KEYS_PER_PAGE, page, sort: "name" } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const tenantSettingsQuery = queryOptions({
  queryKey: ["tenants", "own", "settings"],
  queryFn: () => unwrapData(api.GET("/api/v1/tenant/settings")),
  staleTime: 300_000,
});
