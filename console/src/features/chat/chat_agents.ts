import { queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";

/** A published agent as people see it who chat with it: nothing of its prompt, models and tools. */
export type ChatAgent = components["schemas"]["ChatAgent"];

const PER_PAGE = 100;
const loadChatAgents = (page: number) =>
  unwrapData(api.GET("/api/v1/chat/agents", { params: { query: { per_page: PER_PAGE, page } } }));

/** The agents that this person may chat with, by name. */
export const chatAgentsQuery = queryOptions({
  queryKey: ["agents", "chat"],
  queryFn: async (): Promise<ChatAgent[]> => {
    const first = await loadChatAgents(1);
    const others = Array.from({ length: first.pagination.total_pages - 1 }, (_, i) => loadChatAgents(i + 2));
    return [first, ...(await Promise.all(others))].flatMap((page) => page.data);
  },
});

/** The agents whose name or description holds a text. */
export function findChatAgents(agents: readonly ChatAgent[], text: string): ChatAgent[] {
  const wanted = text.trim().toLowerCase();
  return agents.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted));
}
