import { createAddressReader, readOneOf, readPageNumber, readTextUpTo } from "../../shared/list/address";

/** The kinds of work that begin a trace or go on with one. */
export const TRACE_KINDS = ["turn", "workflow", "tool", "delivery", "channel", "job", "embedding"] as const;
export const TRACE_PERIODS = ["1h", "24h", "7d", "30d"] as const;

export type TraceFilters = {
  show?: "look";
  kind?: (typeof TRACE_KINDS)[number];
  period?: (typeof TRACE_PERIODS)[number];
  agent?: string;
  sort?: "slowest";
  page?: number;
};

/** Read the filters of the list from the address; what does not belong there is left out. */
export const readTraceFilters = createAddressReader<TraceFilters>({
  show: readOneOf(["look"]),
  kind: readOneOf(TRACE_KINDS),
  period: readOneOf(TRACE_PERIODS),
  agent: readTextUpTo(100),
  sort: readOneOf(["slowest"]),
  page: readPageNumber,
});
