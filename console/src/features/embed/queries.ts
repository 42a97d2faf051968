import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import type { components } from "../../api/schema";

export type Settings = components["schemas"]["WidgetSettings"];
export type EmbedKey = components["schemas"]["EmbedKeyOut"];
export type Installation = components["schemas"]["WidgetInstallationOut"];

const agentParams = (agentId: string) => ({ params: { path: { agent_id: agentId } } });
const keyParams = (id: string) => ({ params: { path: { embed_key_id: id } } });

export const settingsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["embed", agentId, "settings"],
    queryFn: () => data(api.GET("/api/v1/agents/{agent_id}/widget", agentParams(agentId))),
  });
export const embedKeysQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["embed", agentId, "keys"],
    queryFn: () =>
      data(
        api.GET("/api/v1/embed/api-keys", {
          params: { query: { agent_id: agentId, status: "active", per_page: 100 } },
        }),
      ),
  });
export const installationsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["embed", agentId, "installations"],
    queryFn: () => data(api.GET("/api/v1/agents/{agent_id}/widget/installations", agentParams(agentId))),
    staleTime: 0,
  });
export const snippetQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["embed", agentId, "snippet"],
    queryFn: () => data(api.GET("/api/v1/public/agents/{agent_id}/embed", agentParams(agentId))),
  });

export const saveSettings = (agentId: string, body: Settings) =>
  data(api.PUT("/api/v1/agents/{agent_id}/widget", { ...agentParams(agentId), body }));
export const createEmbedKey = (body: components["schemas"]["EmbedKeyCreate"]) =>
  data(api.POST("/api/v1/embed/api-keys", { body }));
export const changeDomains = ({ id, domains }: { id: string; domains: string[] }) =>
  data(api.PATCH("/api/v1/embed/api-keys/{embed_key_id}", { ...keyParams(id), body: { allowed_domains: domains } }));
export const allowFiles = ({ id, isAllowed }: { id: string; isAllowed: boolean }) =>
  data(
    api.PATCH("/api/v1/embed/api-keys/{embed_key_id}", { ...keyParams(id), body: { allow_attachments: isAllowed } }),
  );
export const rotateKey = (id: string) =>
  data(api.POST("/api/v1/embed/api-keys/{embed_key_id}/rotate", { ...keyParams(id), body: { grace_seconds: 3600 } }));
export const revokeKey = (id: string) => data(api.DELETE("/api/v1/embed/api-keys/{embed_key_id}", keyParams(id)));

/** A change of what is shared; everything of it is read again. */
export function useEmbedChange<Input, Output>(agentId: string, change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => client.invalidateQueries({ queryKey: ["embed", agentId] }),
  });
}
