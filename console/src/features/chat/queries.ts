import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import type { components } from "../../api/schema";
import type { ConversationFilters } from "./filters";

export const PER_PAGE = 50;
export type Conversation = components["schemas"]["ConversationOut"];
export type TurnTrace = components["schemas"]["TraceOut"];

export const conversationsQuery = ({ search, status, agent, page }: ConversationFilters) =>
  queryOptions({
    queryKey: ["chat", "list", { search, status, agent, page }],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/v1/conversations", {
          params: {
            query: {
              per_page: PER_PAGE,
              page: page ?? 1,
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
/** One entry for each part: a turn that waited for an approval has several with the same trace. */
export const turnTracesQuery = (id: string) =>
  queryOptions({
    queryKey: ["traces", "of", id],
    queryFn: () =>
      data(api.GET("/api/v1/traces", { params: { query: { conversation_id: id, kind: "turn", per_page: 100 } } })),
  });
/** Names for the list: one request for all rows. */
export const agentNamesQuery = queryOptions({
  queryKey: ["agents", "names"],
  queryFn: () => data(api.GET("/api/v1/agents", { params: { query: { per_page: 100 } } })),
  staleTime: 300_000,
  select: (page) => new Map(page.data.map((agent) => [agent.id, agent.name])),
});

/** The turns of a conversation, oldest first: parts of one trace count as one turn. */
export function turnsByTrace(parts: TurnTrace[]): TurnTrace[] {
  const turns = new Map<string, TurnTrace>();
  for (const part of parts.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at))) {
    const before = turns.get(part.trace_id);
    turns.set(part.trace_id, before ? together(before, part) : part);
  }
  return [...turns.values()];
}

function together(a: TurnTrace, b: TurnTrace): TurnTrace {
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
