import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import { meQuery, usePermissionCheck } from "../../api/queries";
import type { BudgetScope } from "../../shared/budgets/queries";
import { channelNameOf } from "../../shared/channels/channel";
import { createTranslator } from "../../shared/i18n/words";
import { useNamesById } from "../../shared/people/names";
import type { UsageGroup } from "./filters";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");
const PER_PAGE = 100;
type Named = { id: string; name: string };
export type OwnerType = Exclude<BudgetScope["type"], "tenant">;

const toNamed = ({ data }: { data: Named[] }): Named[] => data.map(({ id, name }) => ({ id, name }));
const found = (search: string) => ({ params: { query: { per_page: PER_PAGE, ...(search ? { search } : {}) } } });
const READERS: Record<OwnerType, (search: string) => Promise<Named[]>> = {
  agent: async (search) => toNamed(await unwrapData(api.GET("/api/v1/agents", found(search)))),
  embed_key: async (search) => toNamed(await unwrapData(api.GET("/api/v1/embed/api-keys", found(search)))),
  provider_key: async () => toNamed(await unwrapData(api.GET("/api/v1/api-keys", found("")))),
  user: async (search) =>
    (await unwrapData(api.GET("/users", found(search)))).users.map((user) => ({
      id: user.id,
      name: `${user.first_name} ${user.last_name}`.trim() || user.email,
    })),
};
export const OWNER_PERMISSIONS: Record<OwnerType, string> = {
  agent: "agents:read",
  user: "admin:users",
  embed_key: "embed_keys:read",
  provider_key: "api_keys:read",
};

/** Whose spending a budget can limit, by a part of the name. */
export const ownersQuery = (type: OwnerType, search = "") =>
  queryOptions({
    queryKey: ["usage", "owners", type, search],
    queryFn: () => READERS[type](search),
    staleTime: 60_000,
    retry: false,
  });

/** One agent that the first page of all does not name; null if it was deleted. */
const agentNameQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["usage", "agent name", agentId],
    queryFn: () =>
      unwrapData(api.GET("/api/v1/agents/{agent_id}", { params: { path: { agent_id: agentId } } })).then(
        ({ name }) => name,
        () => null,
      ),
    staleTime: 300_000,
  });

/** The names of agents: one question for all in most organizations, and one for each that is missing in large ones. */
function useAgentNames(ids: string[]): (id: string) => string | undefined {
  const canRead = usePermissionCheck()("agents:read");
  const { data: listed } = useQuery({ ...ownersQuery("agent"), enabled: canRead && ids.length > 0 });
  const missing =
    listed && listed.length >= PER_PAGE ? ids.filter((id) => !listed.some((agent) => agent.id === id)) : [];
  const others = useQueries({ queries: missing.map(agentNameQuery) });
  return (id) =>
    listed?.find((agent) => agent.id === id)?.name ??
    others[missing.indexOf(id)]?.data ??
    (listed && others[missing.indexOf(id)]?.isPending !== true ? say("deletedAgent") : undefined);
}

function useListedNames(type: "embed_key" | "provider_key", isNeeded: boolean) {
  const canRead = usePermissionCheck()(OWNER_PERMISSIONS[type]);
  const { data } = useQuery({ ...ownersQuery(type), enabled: canRead && isNeeded });
  return (id: string) => data?.find((key) => key.id === id)?.name;
}

/** The names of what a report is grouped by; undefined while a name is not known. */
export function useGroupNames(by: UsageGroup | "provider_key" | undefined, ids: string[]) {
  const { data: me } = useQuery(meQuery);
  const agentName = useAgentNames(by === "agent" ? ids : []);
  const personName = useNamesById(by === "user" ? ids : []);
  const embedKeyName = useListedNames("embed_key", by === "embed_key" && ids.length > 0);
  const providerKeyName = useListedNames("provider_key", by === "provider_key" && ids.length > 0);
  return (id: string): string | undefined => {
    if (by === "agent") return agentName(id);
    if (by === "user") return personName(id) ?? (me?.id === id ? `${me.first_name} ${me.last_name}`.trim() : undefined);
    if (by === "embed_key") return embedKeyName(id);
    if (by === "provider_key") return providerKeyName(id);
    return by === "channel" ? channelNameOf(id) : id;
  };
}

/** What usage is called that belongs to no agent, model, person, channel or key. */
export const nameWithoutGroup = (by: UsageGroup) => say(`none_${by}`);
