import { createAddressReader, readAnyTextUpTo, readOneOf, readPageNumber, readText } from "../../shared/list/address";

export const EVENT_CATEGORIES = ["agent", "workflow", "form", "approval", "data_table", "system"] as const;
export type EventCategory = (typeof EVENT_CATEGORIES)[number];
/** What is filtered, and which event is open beside the log. */
export type EventFilters = {
  search?: string;
  type?: string;
  category?: EventCategory;
  correlation?: string;
  event?: string;
};
export type SubscriptionFilters = { show?: "off"; page?: number };

/** Read the filters of the log from the address; what does not belong there is left out. */
export const readEventFilters = createAddressReader<EventFilters>({
  search: readAnyTextUpTo(100),
  type: readText,
  category: readOneOf(EVENT_CATEGORIES),
  correlation: readText,
  event: readText,
});

export const readSubscriptionFilters = createAddressReader<SubscriptionFilters>({
  show: readOneOf(["off"]),
  page: readPageNumber,
});
