import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import type { components } from "../../api/schema";
import type { AgentFilters } from "./filters";

export const PER_PAGE = 50;
export type Agent = components["schemas"]["AgentSummary"];

export const agentsQuery = ({ search, status, page }: AgentFilters) =>
  queryOptions({
    queryKey: ["agents", "list", { search, status, page }],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/v1/agents", {
          params: {
            query: {
              per_page: PER_PAGE,
              page: page ?? 1,
              ...(search ? { search } : {}),
              ...(status ? { status } : {}),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: ["agents", id],
    queryFn: () => data(api.GET("/api/v1/agents/{agent_id}", { params: { path: { agent_id: id } } })),
  });
export const modelsQuery = queryOptions({
  queryKey: ["providers", "models"],
  queryFn: () => data(api.GET("/api/v1/models")),
  staleTime: 300_000,
});

/** A change of agents; everything that shows agents is read again. */
export function useAgentChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: change, onSuccess: () => client.invalidateQueries({ queryKey: ["agents"] }) });
}
export const createAgent = (body: components["schemas"]["AgentCreate"]) => data(api.POST("/api/v1/agents", { body }));
const path = (id: string) => ({ params: { path: { agent_id: id } } });
export const deleteAgent = async (id: string) => void (await api.DELETE("/api/v1/agents/{agent_id}", path(id)));
export const archiveAgent = async (id: string) => void (await api.POST("/api/v1/agents/{agent_id}/archive", path(id)));
export const restoreAgent = async (id: string) => void (await api.POST("/api/v1/agents/{agent_id}/restore", path(id)));
