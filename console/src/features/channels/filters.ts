import { createAddressReader, readAnyTextUpTo, readOneOf, readText } from "../../shared/list/address";

export const CHANNEL_TYPES = ["email", "team_chat", "webhook", "sms", "in_app"] as const;
export type ChannelTypeName = (typeof CHANNEL_TYPES)[number];
export const CHANNEL_SHOWS = ["look", "off"] as const;

/** What is filtered, and which channel is open beside the list. */
export type ChannelFilters = {
  search?: string;
  type?: ChannelTypeName;
  show?: (typeof CHANNEL_SHOWS)[number];
  id?: string;
};

/** Read the filters of the list from the address; what does not belong there is left out. */
export const readChannelFilters = createAddressReader<ChannelFilters>({
  search: readAnyTextUpTo(100),
  type: readOneOf(CHANNEL_TYPES),
  show: readOneOf(CHANNEL_SHOWS),
  id: readText,
});
