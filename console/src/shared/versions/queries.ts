import { infiniteQueryOptions, queryOptions, useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { meQuery, useMay } from "../../api/queries";
import type { components } from "../../api/schema";
import { words } from "../i18n/words";
import en from "./words.en.json";

const say = words(en, "shared/versions");
const PER_PAGE = 50;

export type Version = components["schemas"]["VersionSummary"];
export type Difference = components["schemas"]["Difference"];
/** A number, or the draft. */
export type VersionName = number | "draft";

const path = (agentId: string) => ({ path: { agent_id: agentId } });

export const versionsQuery = (agentId: string) =>
  infiniteQueryOptions({
    queryKey: ["agents", agentId, "versions"],
    queryFn: ({ pageParam }) =>
      data(
        api.GET("/api/v1/agents/{agent_id}/versions", {
          params: { ...path(agentId), query: { page: pageParam, per_page: PER_PAGE } },
        }),
      ),
    initialPageParam: 1,
    getNextPageParam: ({ pagination }) => (pagination.page < pagination.total_pages ? pagination.page + 1 : undefined),
  });

export const draftQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "draft"],
    queryFn: () => data(api.GET("/api/v1/agents/{agent_id}/draft", { params: path(agentId) })),
  });

export const diffQuery = (agentId: string, version: VersionName, against?: VersionName) =>
  queryOptions({
    queryKey: ["agents", agentId, "diff", version, against],
    queryFn: async () =>
      (
        await data(
          api.GET("/api/v1/agents/{agent_id}/versions/{version}/diff", {
            params: { path: { agent_id: agentId, version: String(version) }, query: against ? { against } : {} },
          }),
        )
      ).data,
  });

export const statusQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "status"],
    queryFn: () => data(api.GET("/api/v1/agents/{agent_id}/status", { params: path(agentId) })),
  });

export const restoreVersion = (agentId: string, version: number) =>
  data(
    api.POST("/api/v1/agents/{agent_id}/versions/{version}/restore", {
      params: { path: { agent_id: agentId, version: String(version) } },
    }),
  );

export const publishDraft = (agentId: string, body: { note: string; force: boolean }) =>
  data(api.POST("/api/v1/agents/{agent_id}/publish", { params: path(agentId), body: { from_draft: true, ...body } }));

/** The name of a person, as far as this one may see it: administrators see all names. */
export function usePerson(id: string): string | undefined {
  const may = useMay();
  const { data: me } = useQuery(meQuery);
  const isMe = me?.id === id;
  const person = useQuery({
    queryKey: ["users", id],
    queryFn: () => data(api.GET("/users/{user_id}", { params: { path: { user_id: id } } })),
    enabled: Boolean(me) && Boolean(id) && !isMe && may("admin:users"),
  });
  if (isMe) return say("you");
  if (!person.data) return undefined;
  return `${person.data.first_name} ${person.data.last_name}`.trim() || person.data.email;
}

export const usePersonName = (id: string): string => usePerson(id) ?? say("somebody");
