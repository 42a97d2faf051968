import { CHANNELS } from "../../shared/channels/channel_keys";
import {
  createAddressReader,
  type ListAddress,
  readAnyTextUpTo,
  readCalendarDay,
  readOneOf,
  readPageNumber,
  readTextUpTo,
  readWholeNumberFrom,
} from "../../shared/list/address";

export const CONVERSATION_STATUSES = ["active", "closed"] as const;
export const CONVERSATION_PERIODS = ["24h", "7d", "30d", "90d"] as const;
export const CONVERSATION_RATINGS = ["positive", "negative"] as const;
export const CONVERSATION_OUTCOMES = ["failed", "fine"] as const;
const MAX_COST = 1_000_000;

export type ConversationPeriod = (typeof CONVERSATION_PERIODS)[number];
export type ConversationFilters = {
  search?: string;
  show?: "look";
  period?: ConversationPeriod;
  /** The first and the last day, in the time zone of the browser; a period goes before them. */
  from?: string;
  to?: string;
  agent?: string;
  version?: number;
  channel?: (typeof CHANNELS)[number];
  person?: string;
  rating?: (typeof CONVERSATION_RATINGS)[number];
  outcome?: (typeof CONVERSATION_OUTCOMES)[number];
  cost?: number;
  status?: (typeof CONVERSATION_STATUSES)[number];
  page?: number;
};

function readCost(value: unknown): number | undefined {
  const cost = value === "" ? Number.NaN : Number(value ?? Number.NaN);
  return cost > 0 && cost <= MAX_COST ? cost : undefined;
}

const readFields = createAddressReader<ConversationFilters>({
  search: readAnyTextUpTo(100),
  show: readOneOf(["look"]),
  period: readOneOf(CONVERSATION_PERIODS),
  from: readCalendarDay,
  to: readCalendarDay,
  agent: readTextUpTo(100),
  version: readWholeNumberFrom(1),
  channel: readOneOf(CHANNELS),
  person: readTextUpTo(100),
  rating: readOneOf(CONVERSATION_RATINGS),
  outcome: readOneOf(CONVERSATION_OUTCOMES),
  cost: readCost,
  status: readOneOf(CONVERSATION_STATUSES),
  page: readPageNumber,
});

/** Read the filters of the list from the address; what does not belong there is left out. */
export function readConversationFilters(address: ListAddress): ConversationFilters {
  const { from, to, version, ...filters } = readFields(address);
  return {
    ...filters,
    from: filters.period ? undefined : from,
    to: filters.period ? undefined : to,
    // Each agent numbers its own versions.
    version: filters.agent ? version : undefined,
  };
}
