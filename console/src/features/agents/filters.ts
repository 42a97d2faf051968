import {
  createAddressReader,
  readAnyTextUpTo,
  readOneOf,
  readPageNumber,
  readText,
  readTextUpTo,
  readTrueFlag,
} from "../../shared/list/address";

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
export const readAgentFilters = createAddressReader<AgentFilters>({
  search: readAnyTextUpTo(200),
  status: readOneOf(AGENT_STATUSES),
  model: readTextUpTo(200),
  period: readOneOf(ACTIVITY_PERIODS, "7d"),
  page: readPageNumber,
  create: readTrueFlag,
  template: readText,
});
