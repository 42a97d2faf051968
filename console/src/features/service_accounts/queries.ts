import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import type { components } from "../../api/schema";

export type Account = components["schemas"]["ServiceAccountOut"];
export type Secret = components["schemas"]["SecretOut"];
export type NewSecret = components["schemas"]["NewSecretOut"];
type AccountCreate = components["schemas"]["ServiceAccountCreate"];
type AccountUpdate = components["schemas"]["ServiceAccountUpdate"];

const accountParams = (id: string) => ({ params: { path: { service_account_id: id } } });

export const accountsQuery = queryOptions({
  queryKey: ["service_accounts"],
  queryFn: () => data(api.GET("/api/v1/service-accounts", { params: { query: { per_page: 100, sort: "name" } } })),
});
export const secretsQuery = (id: string) =>
  queryOptions({
    queryKey: ["service_accounts", id, "secrets"],
    queryFn: () => data(api.GET("/api/v1/service-accounts/{service_account_id}/secrets", accountParams(id))),
  });

export const createSecret = (id: string) =>
  data(api.POST("/api/v1/service-accounts/{service_account_id}/secrets", { ...accountParams(id), body: {} }));
export const deleteSecret = ({ id, secretId }: { id: string; secretId: string }) =>
  data(
    api.DELETE("/api/v1/service-accounts/{service_account_id}/secrets/{secret_id}", {
      params: { path: { service_account_id: id, secret_id: secretId } },
    }),
  );
export const createAccount = (body: AccountCreate) => data(api.POST("/api/v1/service-accounts", { body }));
export const updateAccount = ({ id, ...body }: AccountUpdate & { id: string }) =>
  data(api.PATCH("/api/v1/service-accounts/{service_account_id}", { ...accountParams(id), body }));
export const deleteAccount = (id: string) =>
  data(api.DELETE("/api/v1/service-accounts/{service_account_id}", accountParams(id)));

/** A change of an account or its secrets; all of them are read again. */
export function useAccountChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => client.invalidateQueries({ queryKey: ["service_accounts"] }),
  });
}
