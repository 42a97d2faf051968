import { type ConversationFilters, readConversationFilters } from "./filters";

/** The filters as a part of an address, to keep them under a name. */
export const filtersToAddress = ({ page: _, ...filters }: ConversationFilters): string =>
  new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  ).toString();

export const filtersFromAddress = (address: string): ConversationFilters =>
  readConversationFilters(Object.fromEntries(new URLSearchParams(address)));
