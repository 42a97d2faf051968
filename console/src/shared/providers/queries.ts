import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";

export type ApiKey = components["schemas"]["ApiKeyOut"];
export type ApiKeyTest = components["schemas"]["ApiKeyTest"];
export type ApiKeyCreate = components["schemas"]["ApiKeyCreate"];
export type ModelProbe = components["schemas"]["ModelProbe"];
export type FoundServer = components["schemas"]["FoundServerOut"];
export type ChatModel = components["schemas"]["ModelOut"];

export const probeQuery = queryOptions({
  queryKey: ["providers", "probe"],
  queryFn: () => unwrapData(api.GET("/api/v1/models/probe")),
});
const listProviderKeys = () =>
  unwrapData(api.GET("/api/v1/api-keys", { params: { query: { per_page: 100, sort: "provider" } } }));
export const providerKeysQuery = queryOptions({ queryKey: ["providers", "keys"], queryFn: listProviderKeys });
export const modelListQuery = queryOptions({
  queryKey: ["providers", "models"],
  queryFn: () => unwrapData(api.GET("/api/v1/models")),
  staleTime: 300_000,
});
/** The models that agents can chat with; those of a key come before the embedded one, which is a demonstration. */
export const selectChatModels = ({ data: models }: { data: ChatModel[] }) =>
  models
    .filter((model) => model.kind === "chat")
    .sort((a, b) => Number(a.provider === "local") - Number(b.provider === "local") || a.id.localeCompare(b.id));
export const chatModelsQuery = queryOptions({ ...modelListQuery, select: selectChatModels });

/** Others are paid by characters or minutes. */
export const isPricedByTokens = ({ kind }: Pick<ChatModel, "kind">) => kind === "chat" || kind === "embedding";

const keyPathParams = (id: string) => ({ params: { path: { key_id: id } } });
export const createProviderKey = (body: ApiKeyCreate) => unwrapData(api.POST("/api/v1/api-keys", { body }));
export const testProviderKey = (id: string) =>
  unwrapData(api.POST("/api/v1/api-keys/{key_id}/test", keyPathParams(id)));
export const updateProviderKey = ({ id, ...body }: { id: string } & components["schemas"]["ApiKeyUpdate"]) =>
  unwrapData(api.PUT("/api/v1/api-keys/{key_id}", { ...keyPathParams(id), body }));
export const deleteProviderKey = async ({ id, force }: { id: string; force?: boolean }) =>
  void (await api.DELETE("/api/v1/api-keys/{key_id}", {
    params: { path: { key_id: id }, query: { force: force ?? false } },
  }));

export type Tried = { key?: ApiKey; test: ApiKeyTest };

/** Addresses of one server: `localhost` is `127.0.0.1`, and a server adds `/v1` itself. */
const normalizeAddress = (address: string) =>
  address
    .trim()
    .replace(/^(https?:\/\/)localhost(?=[:/]|$)/i, "$1127.0.0.1")
    .replace(/\/+$/, "")
    .replace(/\/v1$/, "")
    .toLowerCase();

/** The stored key of a server at this address. */
export const findServerKey = (keys: ApiKey[], { provider, base_url }: Pick<ApiKeyCreate, "provider" | "base_url">) =>
  base_url
    ? keys.find(
        (key) =>
          key.provider === provider && key.base_url && normalizeAddress(key.base_url) === normalizeAddress(base_url),
      )
    : undefined;

const markKeyWorking = (key: ApiKey): ApiKey => ({ ...key, is_valid: true, last_tested_at: new Date().toISOString() });

/** Ask the server of a stored key, which stays as it is if nothing answers. */
export async function tryStoredKey(key: ApiKey): Promise<Tried> {
  const test = await testProviderKey(key.id);
  if (!test.success) return { test };
  if (!key.is_active) await updateProviderKey({ id: key.id, is_active: true });
  return { key: markKeyWorking(key), test };
}

/**
 * Store a key and ask its provider at once; one that does not work is not kept.
 * A server that needs no secret is stored once: connecting it again asks the key that exists.
 */
export async function tryNewKey(body: ApiKeyCreate): Promise<Tried> {
  const stored = body.api_key || !body.base_url ? undefined : findServerKey((await listProviderKeys()).data, body);
  if (stored) return tryStoredKey(stored);
  const key = await createProviderKey(body);
  try {
    const test = await testProviderKey(key.id);
    if (test.success) return { key: markKeyWorking(key), test };
    await deleteProviderKey({ id: key.id, force: true });
    return { test };
  } catch (error) {
    await deleteProviderKey({ id: key.id, force: true }).catch(() => undefined);
    throw error;
  }
}

/** A change of keys; everything that shows keys or models is read again. */
export function useProviderKeyChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(input),
    onSettled: () => client.invalidateQueries({ queryKey: ["providers"] }),
  });
}
