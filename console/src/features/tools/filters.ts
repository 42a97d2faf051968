import { createAddressReader, readAnyTextUpTo, readOneOf, readPageNumber, readText } from "../../shared/list/address";

export const TOOL_TYPES = ["rest_api", "function", "webhook", "database", "script", "custom"] as const;
export type ToolTypeName = (typeof TOOL_TYPES)[number];
export const TOOL_CATEGORIES = [
  "crm",
  "email",
  "database",
  "analytics",
  "automation",
  "payment",
  "storage",
  "social",
  "development",
  "webhook",
  "custom",
] as const;
export type ToolCategory = (typeof TOOL_CATEGORIES)[number];
export const TOOL_SHOWS = ["look", "off"] as const;
export const EXECUTION_STATUSES = ["completed", "failed", "timeout"] as const;
export const TOOL_PERIODS = ["24h", "7d", "30d", "90d"] as const;
export type ToolPeriod = (typeof TOOL_PERIODS)[number];

export type ToolFilters = {
  search?: string;
  category?: ToolCategory;
  type?: ToolTypeName;
  show?: (typeof TOOL_SHOWS)[number];
  page?: number;
};
/** What is filtered, and whose details are open beside the list. */
export type ExecutionFilters = { status?: (typeof EXECUTION_STATUSES)[number]; page?: number; id?: string };

/** Read the filters of the list from the address; what does not belong there is left out. */
export const readToolFilters = createAddressReader<ToolFilters>({
  search: readAnyTextUpTo(100),
  category: readOneOf(TOOL_CATEGORIES),
  type: readOneOf(TOOL_TYPES),
  show: readOneOf(TOOL_SHOWS),
  page: readPageNumber,
});

export const readExecutionFilters = createAddressReader<ExecutionFilters>({
  status: readOneOf(EXECUTION_STATUSES),
  page: readPageNumber,
  id: readText,
});

export const readStatisticsPeriod = createAddressReader<{ period?: ToolPeriod }>({
  period: readOneOf(TOOL_PERIODS, "7d"),
});
