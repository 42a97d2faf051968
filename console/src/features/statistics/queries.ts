import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import type { components } from "../../api/schema";
import { DEFAULT_PERIOD, type Filters, type StatisticsPeriod, startOf } from "./filters";

export const CALLS_PER_PAGE = 20;
export type Breakdown = components["schemas"]["AgentBreakdown"];
export type Point = components["schemas"]["StatsPoint"];
export type Log = components["schemas"]["LogOut"];
export type LogSettings = components["schemas"]["LogSettingsOut"];
export type Budget = components["schemas"]["BudgetOut"];
export type BudgetFields = Pick<Budget, "limit_usd" | "limit_tokens" | "period" | "action">;

const agentParams = (agentId: string) => ({ path: { agent_id: agentId } });

export const breakdownQuery = (agentId: string, period: StatisticsPeriod) =>
  queryOptions({
    queryKey: ["agents", agentId, "breakdown", period],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/v1/agents/{agent_id}/stats/breakdown", {
          params: { ...agentParams(agentId), query: { period } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const logsQuery = (agentId: string, { period = DEFAULT_PERIOD, search, status, channel, page }: Filters) =>
  queryOptions({
    queryKey: ["agents", agentId, "logs", { period, search, status, channel, page }],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/v1/agents/{agent_id}/logs", {
          params: {
            ...agentParams(agentId),
            query: {
              per_page: CALLS_PER_PAGE,
              page: page ?? 1,
              from: startOf(period),
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
    queryFn: () => data(api.GET("/api/v1/agents/{agent_id}/log-settings", { params: agentParams(agentId) })),
  });

export const budgetsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["usage", "budgets", agentId],
    queryFn: () =>
      data(
        api.GET("/api/v1/budgets", { params: { query: { scope_type: "agent", scope_id: agentId, per_page: 100 } } }),
      ),
  });

/** Write something of an agent, then read again what it changed. */
function useChange<T, R>(queryKey: string[], write: (given: T) => Promise<R>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: write, onSuccess: () => client.invalidateQueries({ queryKey }) });
}

export const useLogSettings = (agentId: string) =>
  // The settings are part of the agent's version.
  useChange(["agents", agentId], (body: LogSettings) =>
    data(api.PUT("/api/v1/agents/{agent_id}/log-settings", { params: agentParams(agentId), body })),
  );

export const useSaveBudget = (agentId: string, id?: string) =>
  useChange(["usage", "budgets"], (fields: BudgetFields) =>
    id
      ? data(api.PUT("/api/v1/budgets/{budget_id}", { params: { path: { budget_id: id } }, body: fields }))
      : data(api.POST("/api/v1/budgets", { body: { scope: { type: "agent", id: agentId }, ...fields } })),
  );

export const useDeleteBudget = () =>
  useChange(["usage", "budgets"], (id: string) =>
    data(api.DELETE("/api/v1/budgets/{budget_id}", { params: { path: { budget_id: id } } })),
  );
