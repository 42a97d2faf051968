import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";

export type Account = components["schemas"]["ServiceAccountOut"];
export type Secret = components["schemas"]["SecretOut"];
export type NewSecret = components["schemas"]["NewSecretOut"];
type AccountCreate = components["schemas"]["ServiceAccountCreate"];
type AccountUpdate = components["schemas"]["ServiceAccountUpdate"];
type EnteredAccount = Pick<Account, "name" | "permissions" | "allowed_ips"> & { description: string };

const accountPathParams = (id: string) => ({ params: { path: { service_account_id: id } } });

export const accountsQuery = queryOptions({
  queryKey: ["service_accounts"],
  queryFn: () =>
    unwrapData(api.GET("/api/v1/service-accounts", { params: { query: { per_page: 100, sort: "name" } } })),
});
export const secretsQuery = (id: string) =>
  queryOptions({
    queryKey: ["service_accounts", id, "secrets"],
    queryFn: () => unwrapData(api.GET("/api/v1/service-accounts/{service_account_id}/secrets", accountPathParams(id))),
  });

export const createSecret = (id: string) =>
  unwrapData(api.POST("/api/v1/service-accounts/{service_account_id}/secrets", { ...accountPathParams(id), body: {} }));
export const deleteSecret = ({ id, secretId }: { id: string; secretId: string }) =>
  unwrapData(
    api.DELETE("/api/v1/service-accounts/{service_account_id}/secrets/{secret_id}", {
      params: { path: { service_account_id: id, secret_id: secretId } },
    }),
  );
const createAccount = (body: AccountCreate) => unwrapData(api.POST("/api/v1/service-accounts", { body }));
export const updateAccount = ({ id, ...body }: AccountUpdate & { id: string }) =>
  unwrapData(api.PATCH("/api/v1/service-accounts/{service_account_id}", { ...accountPathParams(id), body }));
export const deleteAccount = (id: string) =>
  unwrapData(api.DELETE("/api/v1/service-accounts/{service_account_id}", accountPathParams(id)));

/**
 * Create an account and its first secret. `unfinished` remembers the account: called again after a refusal, the same
 * one is changed to what was entered since and gets the secret.
 */
export async function createAccountWithSecret(unfinished: { id?: string }, body: EnteredAccount): Promise<NewSecret> {
  if (unfinished.id) await updateAccount({ id: unfinished.id, ...body });
  else unfinished.id = (await createAccount(body)).id;
  return createSecret(unfinished.id);
}

/** A change of an account or its secrets; all of them are read again, since a part of it may be done. */
export function useAccountChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(input),
    onSettled: () => client.invalidateQueries({ queryKey: ["service_accounts"] }),
  });
}
