import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import type { components } from "../../api/schema";
import { MAX_MESSAGES, type Message, readMessages } from "../../shared/trace/queries";
import type { ConversationFilters } from "./filters";

/** How many pages of earlier messages come with one press. */
const PAGES_AT_ONCE = 3;

export const CONVERSATIONS_PER_PAGE = 50;
export type Conversation = components["schemas"]["ConversationListed"];
export type ConversationDetail = components["schemas"]["ConversationDetail"];
export type TurnTrace = components["schemas"]["TraceOut"];

export const conversationsQuery = ({ search, status, agent, page }: ConversationFilters) =>
  queryOptions({
    queryKey: ["chat", "list", { search, status, agent, page }],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/v1/conversations", {
          params: {
            query: {
              per_page: CONVERSATIONS_PER_PAGE,
              page: page ?? 1,
              include: "agent_name",
              ...(search ? { search } : {}),
              ...(status ? { status } : {}),
              ...(agent ? { agent_id: agent } : {}),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
export const conversationQuery = (id: string) =>
  queryOptions({
    queryKey: ["chat", id],
    queryFn: () =>
      data(api.GET("/api/v1/conversations/{conversation_id}", { params: { path: { conversation_id: id } } })),
  });
/** Messages before the last hundred, from the later ones back to the first. They do not change any more. */
export const earlierQuery = (id: string, total: number) =>
  infiniteQueryOptions({
    queryKey: ["earlier-messages", id],
    queryFn: async ({ pageParam }): Promise<Message[]> => {
      const count = Math.min(PAGES_AT_ONCE, pageParam);
      const pages = Array.from({ length: count }, (_, i) => readMessages(id, pageParam - count + 1 + i));
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
      data(
        api.GET("/api/v1/traces", {
          params: { query: { conversation_id: id, kind: "turn", per_page: 100, page: pageParam } },
        }),
      ),
    initialPageParam: 1,
    getNextPageParam: ({ pagination }) => (pagination.page < pagination.total_pages ? pagination.page + 1 : undefined),
  });
/** Agents to choose from: the first of them, or those with this in their name. */
export const conversationAgentsQuery = (search: string) =>
  queryOptions({
    queryKey: ["agents", "choices", search],
    queryFn: () =>
      data(api.GET("/api/v1/agents", { params: { query: { per_page: 50, ...(search ? { search } : {}) } } })),
    staleTime: 300_000,
    placeholderData: keepPreviousData,
  });

/** The turns of a conversation, oldest first: parts of one trace count as one turn. */
export function turnsByTrace(parts: TurnTrace[]): TurnTrace[] {
  const turns = new Map<string, TurnTrace>();
  for (const part of parts.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at))) {
    const before = turns.get(part.trace_id);
    turns.set(part.trace_id, before ? addTraces(before, part) : part);
  }
  return [...turns.values()];
}

function addTraces(a: TurnTrace, b: TurnTrace): TurnTrace {
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
