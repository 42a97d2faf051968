import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";

const PER_PAGE = 50;

export type Version = components["schemas"]["VersionSummary"];
export type Difference = components["schemas"]["Difference"];
/** A number, or the draft. */
export type VersionName = number | "draft";

const agentPathParams = (agentId: string) => ({ path: { agent_id: agentId } });

export const versionsQuery = (agentId: string) =>
  infiniteQueryOptions({
    queryKey: ["agents", agentId, "versions"],
    queryFn: ({ pageParam }) =>
      unwrapData(
        api.GET("/api/v1/agents/{agent_id}/versions", {
          params: { ...agentPathParams(agentId), query: { page: pageParam, per_page: PER_PAGE } },
        }),
      ),
    initialPageParam: 1,
    getNextPageParam: ({ pagination }) => (pagination.page < pagination.total_pages ? pagination.page + 1 : undefined),
  });

export const draftQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "draft"],
    queryFn: () => unwrapData(api.GET("/api/v1/agents/{agent_id}/draft", { params: agentPathParams(agentId) })),
  });

export const versionDiffQuery = (agentId: string, version: VersionName, against?: VersionName) =>
  queryOptions({
    queryKey: ["agents", agentId, "diff", version, against],
    queryFn: async () =>
      (
        await unwrapData(
          api.GET("/api/v1/agents/{agent_id}/versions/{version}/diff", {
            params: { path: { agent_id: agentId, version: String(version) }, query: against ? { against } : {} },
          }),
        )
      ).data,
  });

export const statusQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "status"],
    queryFn: () => unwrapData(api.GET("/api/v1/agents/{agent_id}/status", { params: agentPathParams(agentId) })),
  });

export const restoreVersion = (agentId: string, version: number) =>
  unwrapData(
    api.POST("/api/v1/agents/{agent_id}/versions/{version}/restore", {
      params: { path: { agent_id: agentId, version: String(version) } },
    }),
  );

export const publishDraft = (agentId: string, body: { note: string; force: boolean }) =>
  unwrapData(
    api.POST("/api/v1/agents/{agent_id}/publish", {
      params: agentPathParams(agentId),
      body: { from_draft: true, ...body },
    }),
  );
