export const CONVERSATION_STATUSES = ["active", "closed"] as const;
export type ConversationFilters = {
  search?: string;
  status?: (typeof CONVERSATION_STATUSES)[number];
  agent?: string;
  page?: number;
};

/** Read the filters of the list from the address; what does not belong there is left out. */
export function readConversationFilters(search: Record<string, unknown>): ConversationFilters {
  const filters: ConversationFilters = {};
  if (typeof search.search === "string" || typeof search.search === "number")
    filters.search = String(search.search).slice(0, 200);
  const status = CONVERSATION_STATUSES.find((one) => one === search.status);
  if (status) filters.status = status;
  if (typeof search.agent === "string" && search.agent) filters.agent = search.agent.slice(0, 100);
  const page = Number(search.page);
  if (Number.isInteger(page) && page > 1) filters.page = page;
  if (!filters.search) delete filters.search;
  return filters;
}

export const hasConversationFilters = (filters: ConversationFilters) =>
  Boolean(filters.search || filters.status || filters.agent);
