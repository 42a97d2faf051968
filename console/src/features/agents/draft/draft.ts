import { queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../../api/client";
import type { components } from "../../../api/schema";
import type { Edits } from "../../../shared/agent/unsaved";

export type { Edits };
export type Snapshot = components["schemas"]["Snapshot"];
export type ToolOfDraft = components["schemas"]["ToolSnapshot"];
export type SubAgentOfDraft = components["schemas"]["SubAgentSnapshot"];
type Draft = components["schemas"]["DraftOut"];
export type TaggedDraft = Draft & { etag: string };
export type WebSearch = {
  enabled: boolean;
  search_engine: string;
  max_results: number;
  safe_search: boolean;
  read_pages?: boolean;
  credential_id: string | null;
  base_url: string | null;
  allowed_domains: string[];
  blocked_domains: string[];
};

const draftPathParams = (id: string) => ({ path: { agent_id: id } });

async function tagDraft(answer: Promise<{ data?: Draft; response: Response }>): Promise<TaggedDraft> {
  const { response } = await answer;
  return { ...(await unwrapData(answer)), etag: response.headers.get("ETag") ?? "" };
}

export const taggedDraftQuery = (id: string) =>
  queryOptions({
    queryKey: ["agents", id, "draft", "tagged"],
    queryFn: () => tagDraft(api.GET("/api/v1/agents/{agent_id}/draft", { params: draftPathParams(id) })),
    staleTime: 0,
  });

export const saveDraft = (id: string, edits: Edits, etag: string) =>
  tagDraft(
    api.PUT("/api/v1/agents/{agent_id}/draft", {
      params: draftPathParams(id),
      headers: { "If-Match": etag },
      body: { snapshot: edits },
    }),
  );

export const discardDraft = async (id: string) =>
  void (await api.DELETE("/api/v1/agents/{agent_id}/draft", { params: draftPathParams(id) }));

/** What production runs: the snapshot of the agent's newest version. */
export const liveSnapshotQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ["agents", id, "live", version],
    queryFn: async () =>
      (
        await unwrapData(
          api.GET("/api/v1/agents/{agent_id}/versions/{version}", {
            params: { path: { agent_id: id, version: String(version) } },
          }),
        )
      ).snapshot,
    staleTime: Number.POSITIVE_INFINITY,
  });

const isSameValue = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** The fields that publishing would change. The state of an agent is not part of a draft. */
export function listChangedFields(live: Snapshot | undefined, draft: Snapshot): (keyof Snapshot)[] {
  if (!live) return [];
  return (Object.keys(draft) as (keyof Snapshot)[]).filter(
    (field) => field !== "status" && !isSameValue(live[field], draft[field]),
  );
}
