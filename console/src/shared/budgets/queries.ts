import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import { readUsageReport } from "../usage_report";
import { type Budget, lastFullDays } from "./forecast";

export type BudgetScope = components["schemas"]["Scope"];
export type BudgetFields = Pick<Budget, "limit_usd" | "limit_tokens" | "period" | "action" | "soft_percent"> & {
  on_unpriced?: Budget["on_unpriced"];
};
const MAX_BUDGETS = 200;
const PER_PAGE = 100;

const readBudgetPage = (query: { page?: number; scope_type?: "agent"; scope_id?: string }, signal?: AbortSignal) =>
  unwrapData(api.GET("/api/v1/budgets", { params: { query: { per_page: PER_PAGE, ...query } }, signal }));

/** All budgets of the organization: there are at most two hundred. */
export const allBudgetsQuery = queryOptions({
  queryKey: ["usage", "budgets"],
  queryFn: async ({ signal }): Promise<Budget[]> => {
    const first = await readBudgetPage({}, signal);
    if (first.pagination.total <= PER_PAGE) return first.data;
    const second = await readBudgetPage({ page: MAX_BUDGETS / PER_PAGE }, signal);
    return [...first.data, ...second.data];
  },
});

export const agentBudgetsOf = (agentId: string) =>
  queryOptions({
    queryKey: ["usage", "budgets", agentId],
    queryFn: ({ signal }) =>
      readBudgetPage({ scope_type: "agent", scope_id: agentId }, signal).then(({ data }) => data),
  });

const GROUPS = { agent: "agent", user: "user", embed_key: "embed_key" } as const;
const MAX_GROUP_IDS = 100;
type PaceScope = "tenant" | keyof typeof GROUPS;
const isPaceScope = (type: BudgetScope["type"]): type is PaceScope => type === "tenant" || type in GROUPS;

/** What was spent on each of the last full days, by whose budget it counts; keys of providers are not reported by day. */
async function readPace(type: PaceScope, ids: string[], signal: AbortSignal) {
  const { from, to } = lastFullDays(Date.now());
  const group = type === "tenant" ? {} : { group_by: GROUPS[type], group_ids: ids.join(",") };
  const { data } = await readUsageReport({ from, to, granularity: "day", ...group }, signal);
  return data.map((row) => ({
    owner: ownerKey(type, type === "tenant" ? null : (row.group[GROUPS[type]] ?? null)),
    usd: row.estimated_cost_usd,
    tokens: row.total_tokens,
  }));
}

export const ownerKey = (type: string, id: string | null | undefined) => (type === "tenant" ? type : `${type}:${id}`);
export type SpentOnDays = { owner: string; usd: number; tokens: number }[];

/** What the owners of these budgets spent on the last full days: a forecast goes on like that. */
export const spendingPaceQuery = (budgets: Budget[]) => {
  const monthly = budgets.filter(({ period, scope }) => period === "month" && isPaceScope(scope.type));
  const owners = [...new Set(monthly.map(({ scope }) => ownerKey(scope.type, scope.id)))].sort();
  return queryOptions({
    queryKey: ["usage", "pace", owners],
    queryFn: async ({ signal }): Promise<SpentOnDays> => {
      const types = [...new Set(monthly.map(({ scope }) => scope.type))].filter(isPaceScope);
      const requests = types.flatMap((type) => {
        const ids = [...new Set(monthly.flatMap(({ scope }) => (scope.type === type ? (scope.id ?? "") : [])))];
        const starts = Array.from({ length: Math.ceil(ids.length / MAX_GROUP_IDS) }, (_, i) => i * MAX_GROUP_IDS);
        return starts.map((start) => readPace(type, ids.slice(start, start + MAX_GROUP_IDS), signal));
      });
      return (await Promise.all(requests)).flat();
    },
    enabled: owners.length > 0,
    staleTime: 300_000,
    placeholderData: keepPreviousData,
  });
};

/** Write a budget, then read again what it changed. */
function useBudgetChange<Input, Output>(write: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => write(input),
    onSuccess: () => client.invalidateQueries({ queryKey: ["usage", "budgets"] }),
  });
}

export const useSaveBudget = (scope: BudgetScope, id?: string) =>
  useBudgetChange((fields: BudgetFields) =>
    id
      ? unwrapData(api.PUT("/api/v1/budgets/{budget_id}", { params: { path: { budget_id: id } }, body: fields }))
      : unwrapData(api.POST("/api/v1/budgets", { body: { scope, ...fields } })),
  );

export const useDeleteBudget = () =>
  useBudgetChange((id: string) =>
    unwrapData(api.DELETE("/api/v1/budgets/{budget_id}", { params: { path: { budget_id: id } } })),
  );
