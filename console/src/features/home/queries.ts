import { queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import { homeQuery } from "../../api/queries";
import type { components } from "../../api/schema";

const REFETCH_MS = 30_000;

export type Home = components["schemas"]["Home"];
export type Need = components["schemas"]["Need"];
export type Today = components["schemas"]["Today"];
export type ComparedDay = components["schemas"]["ComparedDay"];
export type Checklist = components["schemas"]["Checklist"];

/** Home as it is now: what needs somebody ends without a word to this page. Hidden tabs do not ask. */
export const liveHomeQuery = queryOptions({ ...homeQuery, refetchOnMount: "always", refetchInterval: REFETCH_MS });

/** How many budgets agents have of their own; the organization's is part of the figures of the day. */
export const agentBudgetsQuery = queryOptions({
  queryKey: ["usage", "budgets", "of-agents"],
  queryFn: () => unwrapData(api.GET("/api/v1/budgets", { params: { query: { scope_type: "agent", per_page: 1 } } })),
  select: ({ pagination }) => pagination.total,
});

const MAX_AGENTS = 12;
export const publishedAgentsQuery = queryOptions({
  queryKey: ["agents", "published", "home"],
  queryFn: () =>
    unwrapData(
      api.GET("/api/v1/agents", { params: { query: { status: "published", page: 1, per_page: MAX_AGENTS } } }),
    ),
});
