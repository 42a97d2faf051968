import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import { saveTextFile } from "../../shared/save_file";
import type { AgentFilters } from "./filters";

export const AGENTS_PER_PAGE = 50;
export type Agent = components["schemas"]["AgentListed"];

export const agentsQuery = ({ search, status, model, period = "7d", page }: AgentFilters) =>
  queryOptions({
    queryKey: ["agents", "list", { search, status, model, period, page }],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/agents", {
          params: {
            query: {
              per_page: AGENTS_PER_PAGE,
              page: page ?? 1,
              include: "stats",
              period,
              ...(model ? { primary_model: model } : {}),
              ...(search ? { search } : {}),
              ...(status ? { status } : {}),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

const CHOICES = 100;
/** Tools to choose from, by name. */
export const toolsQuery = (search: string) =>
  queryOptions({
    queryKey: ["tools", "choices", search],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/v1/tools", {
          params: { query: { per_page: CHOICES, sort: "name", ...(search ? { search } : {}) } },
          signal,
        }),
      ),
  });
/** Agents to choose from. */
export const agentChoicesQuery = (search: string) =>
  queryOptions({
    queryKey: ["agents", "choices", search],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/agents", { params: { query: { per_page: CHOICES, ...(search ? { search } : {}) } }, signal }),
      ),
  });
export const attachableCredentialsQuery = queryOptions({
  queryKey: ["credentials", "choices"],
  queryFn: () => unwrapData(api.GET("/v1/credentials", { params: { query: { per_page: CHOICES } } })),
});

/** A change of agents; everything that shows agents is read again. */
export function useAgentChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(input),
    onSuccess: () => client.invalidateQueries({ queryKey: ["agents"] }),
  });
}
const agentPathParams = (id: string) => ({ params: { path: { agent_id: id } } });
export const deleteAgent = async (id: string) =>
  void (await api.DELETE("/api/v1/agents/{agent_id}", agentPathParams(id)));
export const archiveAgent = async (id: string) =>
  void (await api.POST("/api/v1/agents/{agent_id}/archive", agentPathParams(id)));
export const restoreAgent = async (id: string) =>
  void (await api.POST("/api/v1/agents/{agent_id}/restore", agentPathParams(id)));

export const templatesQuery = queryOptions({
  queryKey: ["agents", "templates"],
  queryFn: async () => (await unwrapData(api.GET("/api/v1/agents/templates"))).data,
  staleTime: Number.POSITIVE_INFINITY,
});
export type Template = components["schemas"]["AgentTemplate"];
type AgentFile = components["schemas"]["AgentExport"];

export const exportAgent = (id: string) => unwrapData(api.GET("/api/v1/agents/{agent_id}/export", agentPathParams(id)));
export const importAgent = (file: AgentFile) => unwrapData(api.POST("/api/v1/agents/import", { body: file }));

/** Export and import: tools, web search and models come along, secrets do not exist in between. */
export async function duplicateAgent({ id, name }: { id: string; name: string }) {
  const file = await exportAgent(id);
  return importAgent({ ...file, agent: { ...file.agent, name } });
}

export async function changeManyAgents({ ids, op }: { ids: string[]; op: "publish" | "archive" }) {
  const answer = await unwrapData(
    api.POST("/v1/agents/batch", { body: { operations: ids.map((id) => ({ op, id })) } }),
  );
  const failed = answer.data.filter((one) => one.error);
  return { count: ids.length, failed: failed.length, reason: failed[0]?.error?.message ?? "" };
}

/** Let the browser save an exported object as a file. */
export const downloadFile = (name: string, content: unknown) =>
  saveTextFile(name, JSON.stringify(content, null, 2), "application/json");
export const agentFileName = (name: string) =>
  `${name.toLowerCase().replace(/[^a-z0-9]+/g, "-") || "agent"}.agent.json`;

export const hasAgentFilters = ({ search, status, model }: AgentFilters) => Boolean(search || status || model);
