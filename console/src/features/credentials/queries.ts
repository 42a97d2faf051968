import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import type { CredentialFilters } from "./filters";

type Schemas = components["schemas"];
export type Credential = Schemas["CredentialOut"];
export type CredentialSummary = Schemas["CredentialSummary"];
export type CredentialType = Schemas["CredentialTypeOut"];
export type AccessRule = Schemas["AccessRuleOut"];
export type CredentialEvent = Schemas["AuditRecord"];
export type CredentialTest = Schemas["CredentialTestResult"];
/** Secrets by key. The API takes any JSON there, which its generated types cannot say. */
export type SecretValues = Record<string, unknown>;
type WithSecrets<Body> = Omit<Body, "secrets" | "metadata"> & { secrets: SecretValues; metadata?: SecretValues };
export type RevealedSecrets = WithSecrets<Schemas["Revealed"]>;

export const CREDENTIALS_PER_PAGE = 50;
const EVENTS_SHOWN = 20;
const pathOf = (id: string) => ({ params: { path: { credential_id: id } } });

export const credentialsQuery = ({ search, type, page }: CredentialFilters) =>
  queryOptions({
    queryKey: ["credentials", "list", { search, type, page }],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/v1/credentials", {
          params: {
            query: {
              per_page: CREDENTIALS_PER_PAGE,
              page: page ?? 1,
              ...(search ? { search } : {}),
              ...(type ? { type } : {}),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
export const credentialQuery = (id: string) =>
  queryOptions({
    queryKey: ["credentials", "one", id],
    queryFn: async () => (await unwrapData(api.GET("/v1/credentials/{credential_id}", pathOf(id)))).data,
  });
export const credentialTypesQuery = queryOptions({
  queryKey: ["credentials", "types"],
  queryFn: async () => (await unwrapData(api.GET("/v1/credentials/types"))).data,
  staleTime: Number.POSITIVE_INFINITY,
});
export const accessRulesQuery = (id: string) =>
  queryOptions({
    queryKey: ["credentials", "one", id, "access"],
    queryFn: async () => (await unwrapData(api.GET("/v1/credentials/{credential_id}/access", pathOf(id)))).data,
  });
export const credentialUsersQuery = (id: string) =>
  queryOptions({
    queryKey: ["credentials", "one", id, "usage"],
    queryFn: async () => (await unwrapData(api.GET("/v1/credentials/{credential_id}/usage", pathOf(id)))).data,
  });
export const credentialEventsQuery = (id: string) =>
  queryOptions({
    queryKey: ["credentials", "one", id, "audit"],
    queryFn: () =>
      unwrapData(
        api.GET("/v1/credentials/{credential_id}/audit", {
          params: { path: { credential_id: id }, query: { per_page: EVENTS_SHOWN } },
        }),
      ),
  });

export const createCredential = async (body: WithSecrets<Schemas["CredentialCreate"]>) =>
  (await unwrapData(api.POST("/v1/credentials", { body: body as Schemas["CredentialCreate"] }))).data;
export const updateCredential = async ({ id, ...body }: Schemas["CredentialUpdate"] & { id: string }) =>
  (await unwrapData(api.PUT("/v1/credentials/{credential_id}", { ...pathOf(id), body }))).data;
export const replaceSecrets = async ({ id, ...body }: WithSecrets<Schemas["SecretsUpdate"]> & { id: string }) =>
  (
    await unwrapData(
      api.PUT("/v1/credentials/{credential_id}/secrets", { ...pathOf(id), body: body as Schemas["SecretsUpdate"] }),
    )
  ).data;
/** Try what is stored, or `secrets` in its place, of which nothing is stored. */
export const testCredential = async (id: string, secrets?: SecretValues) =>
  (
    await unwrapData(
      api.POST("/v1/credentials/{credential_id}/test", {
        ...pathOf(id),
        ...(secrets ? { body: { secrets: secrets as Record<string, never> } } : {}),
      }),
    )
  ).data;
export const deleteCredential = ({ id, force }: { id: string; force: boolean }) =>
  unwrapData(
    api.DELETE("/v1/credentials/{credential_id}", { params: { path: { credential_id: id }, query: { force } } }),
  );
export const addAccessRule = async ({ id, ...body }: Schemas["AccessGrant"] & { id: string }) =>
  (await unwrapData(api.POST("/v1/credentials/{credential_id}/access", { ...pathOf(id), body }))).data;
export const removeAccessRule = ({ id, ruleId }: { id: string; ruleId: string }) =>
  unwrapData(
    api.DELETE("/v1/credentials/{credential_id}/access/{access_id}", {
      params: { path: { credential_id: id, access_id: ruleId } },
    }),
  );

/** Read the secrets in clear. It is an act that is audited: it is never prefetched, cached or repeated. */
export const revealSecrets = async (id: string): Promise<RevealedSecrets> =>
  (await unwrapData(api.GET("/v1/credentials/{credential_id}/reveal", pathOf(id)))).data;

/** A change of credentials; everything that shows them is read again. */
export function useCredentialChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    // Only the input: the library adds a context, which would stand where a change has more parameters.
    mutationFn: (input: Input) => change(input),
    onSettled: () => client.invalidateQueries({ queryKey: ["credentials"] }),
  });
}

export const hasCredentialFilters = ({ search, type }: CredentialFilters) => Boolean(search || type);
