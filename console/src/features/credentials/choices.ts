import { queryOptions, useQueries } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import { useNamesById } from "../../shared/people/names";
import { ROLES } from "../../shared/people/role_keys";
import { roleNameOf } from "../../shared/people/roles";
import type { AccessRule } from "./queries";

export type IntegrationType = AccessRule["integration_type"];
export const INTEGRATION_TYPES = ["tool", "agent", "channel", "user", "role"] as const;
/** Nobody chooses among people who may not read who there is. */
export const listIntegrationTypes = (may: (permission: string) => boolean) =>
  INTEGRATION_TYPES.filter((type) => type !== "user" || may("admin:users"));
const CHOICES = 100;

type Choice = { id: string; name: string };
const list = async (answer: Promise<{ data: { id: string; name: string }[] }>) =>
  (await answer).data.map(({ id, name }) => ({ id, name }));
const page = { params: { query: { per_page: CHOICES, sort: "name" } } } as const;

const READERS: Record<IntegrationType, () => Promise<Choice[]>> = {
  tool: () => list(unwrapData(api.GET("/v1/tools", page))),
  agent: () => list(unwrapData(api.GET("/api/v1/agents", page))),
  workflow: () => list(unwrapData(api.GET("/api/v1/workflows", page))),
  channel: () => list(unwrapData(api.GET("/api/v1/notification-channels"))),
  user: async () =>
    (await unwrapData(api.GET("/users", { params: { query: { per_page: CHOICES } } }))).users.map((user) => ({
      id: user.id,
      name: `${user.first_name} ${user.last_name}`.trim() || user.email,
    })),
  role: () => Promise.resolve(ROLES.map((role) => ({ id: role, name: roleNameOf(role) }))),
};

/** What a rule of this kind can name. */
export const choicesQuery = (type: IntegrationType) =>
  queryOptions({ queryKey: ["credentials", "choices", type], queryFn: READERS[type], staleTime: 60_000, retry: false });

/** The names of what rules are about; an id where the name cannot be read. */
export function useReferenceNames(rules: AccessRule[]) {
  const types: IntegrationType[] = [...new Set(rules.map((rule) => rule.integration_type))].filter(
    (type) => type !== "user",
  );
  const personName = useNamesById(
    rules.filter((rule) => rule.integration_type === "user").map((rule) => rule.integration_id),
  );
  const found = useQueries({ queries: types.map((type) => choicesQuery(type)) });
  return (rule: AccessRule) =>
    personName(rule.integration_id) ??
    found[types.indexOf(rule.integration_type)]?.data?.find(({ id }) => id === rule.integration_id)?.name ??
    rule.integration_id;
}
