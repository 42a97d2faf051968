import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import type { ExecutionFilters, ToolFilters, ToolPeriod } from "./filters";

type Schemas = components["schemas"];
export type ToolListed = Schemas["ToolListed"];
/** Any JSON object, which the generated types cannot say. */
export type JsonValues = Record<string, unknown>;
type WithConfig<Body> = Omit<Body, "config" | "input_schema" | "output_schema" | "auth_config"> & {
  input_schema?: JsonValues | null;
  auth_config?: JsonValues | null;
};
export type Tool = WithConfig<Schemas["ToolOut"]> & { config: JsonValues };
export type ToolCreate = WithConfig<Schemas["ToolCreate"]> & { config: JsonValues };
export type ToolUpdate = WithConfig<Schemas["ToolUpdate"]> & { config?: JsonValues };
/** A tool as it would be stored, to run without being stored. */
export type ToolTrial = Pick<ToolCreate, "tool_type" | "config" | "auth_type" | "auth_config" | "input_schema">;
export type ToolExecution = Schemas["ExecutionOut"];
export type Executed = Schemas["Executed"];

export const TOOLS_PER_PAGE = 50;
export const EXECUTIONS_PER_PAGE = 50;
export const DAYS_OF_RUNS = 14;
const DAY_MS = 86_400_000;
const pathOf = (id: string) => ({ params: { path: { tool_id: id } } });

export const toolListQuery = ({ search, category, type, show, page }: ToolFilters) =>
  queryOptions({
    queryKey: ["tools", "list", { search, category, type, show, page }],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/v1/tools", {
          params: {
            query: {
              per_page: TOOLS_PER_PAGE,
              page: page ?? 1,
              sort: "name",
              ...(search ? { search } : {}),
              ...(category ? { category } : {}),
              ...(type ? { tool_type: type } : {}),
              ...(show === "look" ? { needs_look: true } : {}),
              ...(show === "off" ? { is_enabled: false } : {}),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

/** How often each tool ran on each of the last days, the oldest first: one request for all of them. */
export const runsByToolQuery = queryOptions({
  queryKey: ["tools", "runs"],
  queryFn: async ({ signal }) => {
    const today = Math.floor(Date.now() / DAY_MS);
    const first = today - DAYS_OF_RUNS + 1;
    const from = new Date(first * DAY_MS).toISOString();
    const query = { from, granularity: "day", group_by: "tool" } as const;
    const answer = await unwrapData(api.GET("/api/v1/usage", { params: { query }, signal }));
    const usage = answer as Schemas["Usage"];
    const runs: Record<string, number[]> = {};
    for (const { start, group, tool_executions: count } of usage.data) {
      const id = Object.values(group)[0];
      const day = Math.floor(Date.parse(start) / DAY_MS) - first;
      if (!id || day < 0 || day >= DAYS_OF_RUNS) continue;
      runs[id] ??= new Array<number>(DAYS_OF_RUNS).fill(0);
      runs[id][day] = (runs[id][day] ?? 0) + count;
    }
    return runs;
  },
});
export const toolQuery = (id: string) =>
  queryOptions({
    queryKey: ["tools", "one", id],
    queryFn: async () => (await unwrapData(api.GET("/v1/tools/{tool_id}", pathOf(id)))).data as Tool,
  });
export const executionsQuery = (id: string, { status, page }: ExecutionFilters) =>
  queryOptions({
    queryKey: ["tools", "one", id, "executions", { status, page }],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/v1/tools/{tool_id}/executions", {
          params: {
            path: { tool_id: id },
            query: { per_page: EXECUTIONS_PER_PAGE, page: page ?? 1, ...(status ? { status } : {}) },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
export const executionQuery = (id: string, executionId: string) =>
  queryOptions({
    queryKey: ["tools", "one", id, "execution", executionId],
    queryFn: async () =>
      (
        await unwrapData(
          api.GET("/v1/tools/{tool_id}/executions/{execution_id}", {
            params: { path: { tool_id: id, execution_id: executionId } },
          }),
        )
      ).data,
  });
export const toolStatsQuery = (id: string, period: ToolPeriod) =>
  queryOptions({
    queryKey: ["tools", "one", id, "stats", period],
    queryFn: async () =>
      (await unwrapData(api.GET("/v1/tools/{tool_id}/stats", { params: { path: { tool_id: id }, query: { period } } })))
        .data,
    placeholderData: keepPreviousData,
  });

export const createTool = async (body: ToolCreate) =>
  (await unwrapData(api.POST("/v1/tools", { body: body as Schemas["ToolCreate"] }))).data;
export const updateTool = async ({ id, ...body }: ToolUpdate & { id: string }) =>
  (await unwrapData(api.PUT("/v1/tools/{tool_id}", { ...pathOf(id), body: body as Schemas["ToolUpdate"] }))).data;
export const deleteTool = (id: string) => unwrapData(api.DELETE("/v1/tools/{tool_id}", pathOf(id)));
export const executeTool = async ({ id, input }: { id: string; input: JsonValues }) =>
  (
    await unwrapData(
      api.POST("/v1/tools/{tool_id}/execute", { ...pathOf(id), body: { input: input as Record<string, never> } }),
    )
  ).data as Executed;
export const tryTool = async (body: ToolTrial & { input: JsonValues }) =>
  (await unwrapData(api.POST("/v1/tools/try", { body: body as unknown as Schemas["ToolTrial"] }))).data as Executed;
export const refreshTool = async ({ id, accept }: { id: string; accept: boolean }) =>
  (await unwrapData(api.POST("/v1/tools/{tool_id}/refresh", { ...pathOf(id), body: { accept } }))).data;

/** A change of tools; everything that shows them is read again. */
export function useToolChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(input),
    onSettled: () => client.invalidateQueries({ queryKey: ["tools"] }),
  });
}

const CHOICES = 100;
export const credentialChoicesQuery = queryOptions({
  queryKey: ["credentials", "choices", "tools"],
  queryFn: () => unwrapData(api.GET("/v1/credentials", { params: { query: { per_page: CHOICES, sort: "name" } } })),
});

/** People who can be named as approvers. */
export const approverChoicesQuery = queryOptions({
  queryKey: ["users", "choices", "tools"],
  queryFn: async () =>
    (await unwrapData(api.GET("/users", { params: { query: { per_page: CHOICES } } }))).users.map((user) => ({
      value: user.id,
      label: `${user.first_name} ${user.last_name}`.trim() || user.email,
    })),
  staleTime: 60_000,
});

export type ToolMade = Schemas["ToolMade"];
export type OpenApiPreview = WithConfig<Schemas["ImportPreview"]> & { config: JsonValues; auth_config: JsonValues };
export type McpPreview = Omit<Schemas["McpImportPreview"], "config"> & { config: JsonValues };
type McpRequest = Omit<Schemas["ImportMcp"], "auth_config"> & { auth_config?: JsonValues };

/** What an import of this document would make; nothing is stored. */
export const previewOpenApi = async (document: string) =>
  (
    await unwrapData(
      api.POST("/v1/tools/import/openapi", {
        params: { query: { dry_run: true } },
        body: { document } as unknown as Schemas["ImportOpenApi"],
      }),
    )
  ).data as unknown as OpenApiPreview;
/** What the server offers; nothing is stored. */
export const previewMcp = async (body: McpRequest) =>
  (
    await unwrapData(
      api.POST("/v1/tools/import/mcp", { params: { query: { dry_run: true } }, body: body as Schemas["ImportMcp"] }),
    )
  ).data as unknown as McpPreview;
export const importMcp = async (body: McpRequest) =>
  (await unwrapData(api.POST("/v1/tools/import/mcp", { body: body as Schemas["ImportMcp"] }))).data as ToolMade;
export const createToolCredential = async (body: {
  name: string;
  type: Schemas["CredentialCreate"]["type"];
  secrets: Record<string, string>;
}) => (await unwrapData(api.POST("/v1/credentials", { body: body as unknown as Schemas["CredentialCreate"] }))).data;

export const hasToolFilters = ({ search, category, type, show }: ToolFilters) =>
  Boolean(search || category || type || show);
