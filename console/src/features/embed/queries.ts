import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";

export type Settings = components["schemas"]["WidgetSettings"];
export type EmbedKey = components["schemas"]["EmbedKeyOut"];
export type HostedPage = components["schemas"]["HostedPageOut"];
export type Installation = components["schemas"]["WidgetInstallationOut"];

const agentPathParams = (agentId: string) => ({ params: { path: { agent_id: agentId } } });
const keyPathParams = (id: string) => ({ params: { path: { embed_key_id: id } } });

export const widgetSettingsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["embed", agentId, "settings"],
    queryFn: () => unwrapData(api.GET("/api/v1/agents/{agent_id}/widget", agentPathParams(agentId))),
  });
export const embedKeysQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["embed", agentId, "keys"],
    queryFn: () =>
      unwrapData(
        api.GET("/api/v1/embed/api-keys", {
          params: { query: { agent_id: agentId, status: "active", per_page: 100 } },
        }),
      ),
  });
export const installationsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["embed", agentId, "installations"],
    queryFn: () => unwrapData(api.GET("/api/v1/agents/{agent_id}/widget/installations", agentPathParams(agentId))),
    staleTime: 0,
  });
export const snippetQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["embed", agentId, "snippet"],
    queryFn: () => unwrapData(api.GET("/api/v1/public/agents/{agent_id}/embed", agentPathParams(agentId))),
  });

export const hostedPageQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["embed", agentId, "page"],
    queryFn: () => unwrapData(api.GET("/api/v1/agents/{agent_id}/page", agentPathParams(agentId))),
  });
export const saveHostedPage = (agentId: string, body: components["schemas"]["HostedPageUpdate"]) =>
  unwrapData(api.PUT("/api/v1/agents/{agent_id}/page", { ...agentPathParams(agentId), body }));
export const closeHostedPage = (agentId: string) =>
  unwrapData(api.DELETE("/api/v1/agents/{agent_id}/page", agentPathParams(agentId)));

export const saveWidgetSettings = (agentId: string, body: Settings) =>
  unwrapData(api.PUT("/api/v1/agents/{agent_id}/widget", { ...agentPathParams(agentId), body }));
export const createEmbedKey = (body: components["schemas"]["EmbedKeyCreate"]) =>
  unwrapData(api.POST("/api/v1/embed/api-keys", { body }));
export const changeKeyDomains = ({ id, domains }: { id: string; domains: string[] }) =>
  unwrapData(
    api.PATCH("/api/v1/embed/api-keys/{embed_key_id}", { ...keyPathParams(id), body: { allowed_domains: domains } }),
  );
export const setFilesAllowed = ({ id, isAllowed }: { id: string; isAllowed: boolean }) =>
  unwrapData(
    api.PATCH("/api/v1/embed/api-keys/{embed_key_id}", {
      ...keyPathParams(id),
      body: { allow_attachments: isAllowed },
    }),
  );
export const rotateEmbedKey = (id: string) =>
  unwrapData(
    api.POST("/api/v1/embed/api-keys/{embed_key_id}/rotate", { ...keyPathParams(id), body: { grace_seconds: 3600 } }),
  );
export const revokeEmbedKey = (id: string) =>
  unwrapData(api.DELETE("/api/v1/embed/api-keys/{embed_key_id}", keyPathParams(id)));

/** A change of what is shared; everything of it is read again. */
export function useEmbedChange<Input, Output>(agentId: string, change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(input),
    onSuccess: () => client.invalidateQueries({ queryKey: ["embed", agentId] }),
  });
}
