import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import type { components } from "../../api/schema";

export type ApiKey = components["schemas"]["ApiKeyOut"];
export type ApiKeyTest = components["schemas"]["ApiKeyTest"];
export type ApiKeyCreate = components["schemas"]["ApiKeyCreate"];
export type ModelProbe = components["schemas"]["ModelProbe"];
export type FoundServer = components["schemas"]["FoundServerOut"];
export type Model = components["schemas"]["ModelOut"];

export const probeQuery = queryOptions({
  queryKey: ["providers", "probe"],
  queryFn: () => data(api.GET("/api/v1/models/probe")),
});
export const modelListQuery = queryOptions({
  queryKey: ["providers", "models"],
  queryFn: () => data(api.GET("/api/v1/models")),
  staleTime: 300_000,
});
/** The models that agents can chat with; those of a key come before the embedded one, which is a demonstration. */
export const chatModels = ({ data: models }: { data: Model[] }) =>
  models
    .filter((model) => model.kind === "chat")
    .sort((a, b) => Number(a.provider === "local") - Number(b.provider === "local") || a.id.localeCompare(b.id));
export const chatModelsQuery = queryOptions({ ...modelListQuery, select: chatModels });

const path = (id: string) => ({ params: { path: { key_id: id } } });
export const createKey = (body: ApiKeyCreate) => data(api.POST("/api/v1/api-keys", { body }));
export const testKey = (id: string) => data(api.POST("/api/v1/api-keys/{key_id}/test", path(id)));
export const updateKey = ({ id, ...body }: { id: string } & components["schemas"]["ApiKeyUpdate"]) =>
  data(api.PUT("/api/v1/api-keys/{key_id}", { ...path(id), body }));
export const deleteKey = async ({ id, force }: { id: string; force?: boolean }) =>
  void (await api.DELETE("/api/v1/api-keys/{key_id}", {
    params: { path: { key_id: id }, query: { force: force ?? false } },
  }));

export type Tried = { key?: ApiKey; test: ApiKeyTest };

/** Store a key and ask its provider at once; one that does not work is not kept. */
export async function tryKey(body: ApiKeyCreate): Promise<Tried> {
  const key = await createKey(body);
  try {
    const test = await testKey(key.id);
    if (test.success) return { key: { ...key, is_valid: true, last_tested_at: new Date().toISOString() }, test };
    await deleteKey({ id: key.id, force: true });
    return { test };
  } catch (error) {
    await deleteKey({ id: key.id, force: true }).catch(() => undefined);
    throw error;
  }
}

/** A change of keys; everything that shows keys or models is read again. */
export function useKeyChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: ["providers"] }),
  });
}
