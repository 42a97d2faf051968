import {
  createAddressReader,
  readAnyTextUpTo,
  readOneOf,
  readPageNumber,
  readText,
  readTrueFlag,
} from "../../shared/list/address";

export const WEBHOOK_SHOWS = ["look", "off"] as const;
export type WebhookFilters = {
  search?: string;
  show?: (typeof WEBHOOK_SHOWS)[number];
  page?: number;
  create?: boolean;
};
export const DELIVERY_STATUSES = ["pending", "failed", "delivered"] as const;
export type DeliveryStatusName = (typeof DELIVERY_STATUSES)[number];
/** What is filtered, and which delivery is shown beside the list. */
export type DeliveryFilters = { search?: string; status?: DeliveryStatusName; page?: number; delivery?: string };
export const RECEIVED_STATUSES = ["triggered", "received", "failed", "duplicate"] as const;
export type ReceivedFilters = { status?: (typeof RECEIVED_STATUSES)[number]; page?: number; received?: string };

/** Read the filters of the lists of webhooks from the address; what does not belong there is left out. */
export const readWebhookFilters = createAddressReader<WebhookFilters>({
  search: readAnyTextUpTo(100),
  show: readOneOf(WEBHOOK_SHOWS),
  page: readPageNumber,
  create: readTrueFlag,
});

export const readDeliveryFilters = createAddressReader<DeliveryFilters>({
  search: readAnyTextUpTo(100),
  status: readOneOf(DELIVERY_STATUSES),
  page: readPageNumber,
  delivery: readText,
});

export const readReceivedFilters = createAddressReader<ReceivedFilters>({
  status: readOneOf(RECEIVED_STATUSES),
  page: readPageNumber,
  received: readText,
});
