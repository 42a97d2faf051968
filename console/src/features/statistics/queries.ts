import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import { DEFAULT_PERIOD, type Filters, type StatisticsPeriod } from "./filters";
import { periodStartAt } from "./period_start";

export const CALLS_PER_PAGE = 20;
export type Breakdown = components["schemas"]["AgentBreakdown"];
export type Point = components["schemas"]["StatsPoint"];
export type Log = components["schemas"]["LogOut"];
export type LogSettings = components["schemas"]["LogSettingsOut"];

const agentPathParams = (agentId: string) => ({ path: { agent_id: agentId } });

export const breakdownQuery = (agentId: string, period: StatisticsPeriod) =>
  queryOptions({
    queryKey: ["agents", agentId, "breakdown", period],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/agents/{agent_id}/stats/breakdown", {
          params: { ...agentPathParams(agentId), query: { period } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const logsQuery = (agentId: string, { period = DEFAULT_PERIOD, search, status, channel, page }: Filters) =>
  queryOptions({
    queryKey: ["agents", agentId, "logs", { period, search, status, channel, page }],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/agents/{agent_id}/logs", {
          params: {
            ...agentPathParams(agentId),
            query: {
              per_page: CALLS_PER_PAGE,
              page: page ?? 1,
              from: periodStartAt(period),
              ...(search ? { search } : {}),
              ...(status ? { status } : {}),
              ...(channel ? { channel } : {}),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const logSettingsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "log-settings"],
    queryFn: () => unwrapData(api.GET("/api/v1/agents/{agent_id}/log-settings", { params: agentPathParams(agentId) })),
  });

/** Write something of an agent, then read again what it changed. */
function useStatisticsChange<T, R>(queryKey: string[], write: (input: T) => Promise<R>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: T) => write(input),
    onSuccess: () => client.invalidateQueries({ queryKey }),
  });
}

export const useLogSettings = (agentId: string) =>
  // The settings are part of the agent's version.
  useStatisticsChange(["agents", agentId], (body: LogSettings) =>
    unwrapData(api.PUT("/api/v1/agents/{agent_id}/log-settings", { params: agentPathParams(agentId), body })),
  );
