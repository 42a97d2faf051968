export const AGENT_STATUSES = ["draft", "published", "archived"] as const;
export const ACTIVITY_PERIODS = ["24h", "7d", "30d", "90d"] as const;
export type ActivityPeriod = (typeof ACTIVITY_PERIODS)[number];
export type AgentFilters = {
  search?: string;
  status?: (typeof AGENT_STATUSES)[number];
  model?: string;
  period?: ActivityPeriod;
  page?: number;
  create?: boolean;
  template?: string;
};

/** Read the filters of the list from the address; what does not belong there is left out. */
export function readAgentFilters(search: Record<string, unknown>): AgentFilters {
  const filters: AgentFilters = {};
  if (typeof search.search === "string" || typeof search.search === "number")
    filters.search = String(search.search).slice(0, 200);
  const status = AGENT_STATUSES.find((one) => one === search.status);
  if (status) filters.status = status;
  if (typeof search.model === "string" && search.model) filters.model = search.model.slice(0, 200);
  const period = ACTIVITY_PERIODS.find((one) => one === search.period && one !== "7d");
  if (period) filters.period = period;
  if (typeof search.template === "string" && search.template) filters.template = search.template;
  const page = Number(search.page);
  if (Number.isInteger(page) && page > 1) filters.page = page;
  if (search.create === true) filters.create = true;
  if (!filters.search) delete filters.search;
  return filters;
}

export const hasAgentFilters = (filters: AgentFilters) => Boolean(filters.search || filters.status || filters.model);
