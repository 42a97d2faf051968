import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import { conversationPath } from "../../shared/conversations/changes";
import { loadMessages, MAX_MESSAGES, type Message } from "../../shared/trace/queries";
import type { ConversationFilters } from "./filters";
import { toConversationQuery } from "./list_query";

/** How many pages of earlier messages come with one press. */
const PAGES_AT_ONCE = 3;

export const CONVERSATIONS_PER_PAGE = 50;
export type Conversation = components["schemas"]["ConversationListed"];
export type TurnTrace = components["schemas"]["TraceOut"];

export const conversationsQuery = (filters: ConversationFilters) =>
  queryOptions({
    queryKey: ["chat", "list", filters],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/conversations", {
          params: {
            query: {
              ...toConversationQuery(filters),
              per_page: CONVERSATIONS_PER_PAGE,
              page: filters.page ?? 1,
              include: "agent_name",
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
export const closeConversation = (id: string) =>
  unwrapData(api.POST("/api/v1/conversations/{conversation_id}/close", conversationPath(id)));

/** Messages before the last hundred, from the later ones back to the first. They do not change any more. */
export const earlierMessagesQuery = (id: string, total: number) =>
  infiniteQueryOptions({
    queryKey: ["earlier-messages", id],
    queryFn: async ({ pageParam }): Promise<Message[]> => {
      const count = Math.min(PAGES_AT_ONCE, pageParam);
      const pages = Array.from({ length: count }, (_, i) => loadMessages(id, pageParam - count + 1 + i));
      return (await Promise.all(pages)).flatMap((page) => page.data);
    },
    initialPageParam: Math.max(1, Math.ceil((total - MAX_MESSAGES) / MAX_MESSAGES)),
    getNextPageParam: (_page, _pages, last) => (last > PAGES_AT_ONCE ? last - PAGES_AT_ONCE : undefined),
    staleTime: Number.POSITIVE_INFINITY,
  });
/** The latest turns first; one entry for each part: a turn that waited for an approval has several with one trace. */
export const turnTracesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["traces", "of", id],
    queryFn: ({ pageParam }) =>
      unwrapData(
        api.GET("/api/v1/traces", {
          params: { query: { conversation_id: id, kind: "turn", per_page: 100, page: pageParam } },
        }),
      ),
    initialPageParam: 1,
    getNextPageParam: ({ pagination }) => (pagination.page < pagination.total_pages ? pagination.page + 1 : undefined),
  });
/** People of the organization to choose from: a super administrator would else see those of all. */
export const conversationPeopleQuery = (tenantId: string | undefined, search: string) =>
  queryOptions({
    queryKey: ["users", "choices", tenantId, search],
    queryFn: () =>
      unwrapData(
        api.GET("/users", { params: { query: { per_page: 50, tenant_id: tenantId, ...(search ? { search } : {}) } } }),
      ),
    staleTime: 300_000,
    placeholderData: keepPreviousData,
  });

/** The turns of a conversation, oldest first: parts of one trace count as one turn. */
export function groupTurnsByTrace(parts: TurnTrace[]): TurnTrace[] {
  const turns = new Map<string, TurnTrace>();
  for (const part of parts.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at))) {
    const before = turns.get(part.trace_id);
    turns.set(part.trace_id, before ? mergeTurnTraces(before, part) : part);
  }
  return [...turns.values()];
}

function mergeTurnTraces(a: TurnTrace, b: TurnTrace): TurnTrace {
  const cost =
    a.estimated_cost_usd === null || b.estimated_cost_usd === null ? null : a.estimated_cost_usd + b.estimated_cost_usd;
  return {
    ...a,
    status: b.status,
    duration_ms: a.duration_ms + b.duration_ms,
    estimated_cost_usd: cost,
    usage: {
      input_tokens: a.usage.input_tokens + b.usage.input_tokens,
      output_tokens: a.usage.output_tokens + b.usage.output_tokens,
      cached_tokens: a.usage.cached_tokens + b.usage.cached_tokens,
    },
  };
}
