import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import type { DeliveryFilters, WebhookFilters } from "./filters";
import { findRawValue } from "./raw_value";

type Schemas = components["schemas"];
/** Conditions on the data of an event, which the generated types cannot say. */
export type EventConditions = Record<string, unknown>;
type WithFilters<Body> = Omit<Body, "filters" | "headers"> & {
  filters: EventConditions;
  headers: Record<string, string>;
};
export type OutgoingWebhook = WithFilters<Schemas["WebhookOut"]>;
export type WebhookSecret = { secret: string; webhook: { id: string; name: string }; until?: string };
export type WebhookBody = {
  url: string;
  events: string[];
  description: string | null;
  headers: Record<string, string> | null;
  filters: EventConditions | null;
};
export type Delivery = Schemas["DeliveryOut"];
export type DeliveryCount = Schemas["DeliveryPoint"];
/** A delivery with its body as it is posted, byte for byte. */
export type DeliveryShown = Omit<Schemas["DeliveryDetail"], "request"> & {
  request: { headers: Record<string, string> };
  rawBody: string;
};

export const WEBHOOKS_PER_PAGE = 50;
export const DELIVERIES_PER_PAGE = 50;
const pathOf = (id: string) => ({ params: { path: { webhook_id: id } } });

/** What an address is called: its description, or its host. */
export function webhookNameOf({ url, description }: { url: string; description: string | null }): string {
  if (description) return description;
  return URL.canParse(url) ? new URL(url).host : url;
}

export const webhookListQuery = ({ search, show, page }: WebhookFilters) =>
  queryOptions({
    queryKey: ["webhooks", "list", { search, show, page }],
    queryFn: async ({ signal }) => {
      const answer = await unwrapData(
        api.GET("/api/v1/webhooks", {
          params: {
            query: {
              per_page: WEBHOOKS_PER_PAGE,
              page: page ?? 1,
              include: "series",
              ...(search ? { search } : {}),
              ...(show === "look" ? { needs_look: true } : {}),
              ...(show === "off" ? { active: false } : {}),
            },
          },
          signal,
        }),
      );
      return { ...answer, data: answer.data as OutgoingWebhook[] };
    },
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ["webhooks", "one", id],
    queryFn: async () => (await unwrapData(api.GET("/api/v1/webhooks/{webhook_id}", pathOf(id)))) as OutgoingWebhook,
  });
export const webhookStatsQuery = (id: string) =>
  queryOptions({
    queryKey: ["webhooks", "one", id, "stats"],
    queryFn: () =>
      unwrapData(
        api.GET("/api/v1/webhooks/{webhook_id}/stats", {
          params: { path: { webhook_id: id }, query: { period: "24h", interval: "hour" } },
        }),
      ),
  });

const LEAST_WAIT_MS = 2_000;
const QUIET_WAIT_MS = 15_000;

/** Until when the list is as it was read: the next attempt is due then, or something new may have come. */
function findNextRead(rows: Delivery[] | undefined): number {
  const due = (rows ?? []).flatMap(({ next_attempt_at: at }) => (at ? [Date.parse(at) - Date.now() + 1_000] : []));
  return Math.min(QUIET_WAIT_MS, Math.max(LEAST_WAIT_MS, Math.min(...due)));
}

export const deliveriesQuery = (id: string, { search, status, page }: DeliveryFilters) =>
  queryOptions({
    queryKey: ["webhooks", "one", id, "deliveries", { search, status, page }],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/webhooks/{webhook_id}/executions", {
          params: {
            path: { webhook_id: id },
            query: {
              per_page: DELIVERIES_PER_PAGE,
              page: page ?? 1,
              ...(status ? { status } : {}),
              ...(search ? { search } : {}),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => findNextRead(state.data?.data),
  });
/** How many deliveries are in a state, and since a moment if one is given. */
export const deliveryCountQuery = (id: string, status: Delivery["status"], from?: string) =>
  queryOptions({
    queryKey: ["webhooks", "one", id, "count", status, from],
    queryFn: async () =>
      (
        await unwrapData(
          api.GET("/api/v1/webhooks/{webhook_id}/executions", {
            params: { path: { webhook_id: id }, query: { status, per_page: 1, ...(from ? { from } : {}) } },
          }),
        )
      ).total,
    refetchInterval: QUIET_WAIT_MS,
  });
/** One delivery; it is read as text, because a signature is of exactly these bytes. */
export const deliveryQuery = (webhookId: string, id: string) =>
  queryOptions({
    queryKey: ["webhooks", "one", webhookId, "delivery", id],
    queryFn: async ({ signal }) => {
      const text = (await unwrapData(
        api.GET("/api/v1/webhooks/{webhook_id}/executions/{delivery_id}", {
          params: { path: { webhook_id: webhookId, delivery_id: id } },
          parseAs: "text",
          signal,
        }),
      )) as unknown as string;
      return { ...JSON.parse(text), rawBody: findRawValue(text, ["request", "body"]) } as DeliveryShown;
    },
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? findNextRead([state.data]) : false),
  });

const bodyOf = (body: WebhookBody) => body as unknown as Schemas["WebhookCreate"];
export const createWebhook = async (body: WebhookBody) =>
  (await unwrapData(api.POST("/api/v1/webhooks", { body: bodyOf(body) }))) as OutgoingWebhook & { secret: string };
export const updateWebhook = ({ id, ...body }: Partial<WebhookBody> & { id: string; active?: boolean }) =>
  unwrapData(
    api.PUT("/api/v1/webhooks/{webhook_id}", { ...pathOf(id), body: body as unknown as Schemas["WebhookUpdate"] }),
  );
export const deleteWebhook = (id: string) => unwrapData(api.DELETE("/api/v1/webhooks/{webhook_id}", pathOf(id)));
export const rotateWebhookSecret = ({ id, seconds }: { id: string; seconds: number }) =>
  unwrapData(
    api.POST("/api/v1/webhooks/{webhook_id}/rotate-secret", { ...pathOf(id), body: { grace_seconds: seconds } }),
  );
export const testWebhook = ({ id, eventType }: { id: string; eventType: string }) =>
  unwrapData(api.POST("/api/v1/webhooks/{webhook_id}/test", { ...pathOf(id), body: { event_type: eventType } }));
export const retryDelivery = ({ id, deliveryId }: { id: string; deliveryId: string }) =>
  unwrapData(
    api.POST("/api/v1/webhooks/{webhook_id}/executions/{delivery_id}/retry", {
      params: { path: { webhook_id: id, delivery_id: deliveryId } },
    }),
  );
export const replayDeliveries = ({ id, from }: { id: string; from?: string }) =>
  unwrapData(
    api.POST("/api/v1/webhooks/{webhook_id}/replay", {
      ...pathOf(id),
      body: { status: "failed", ...(from ? { from } : {}) },
    }),
  );

/** A change of webhooks; everything that shows them is read again. */
export function useWebhookChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: ["webhooks"] }),
  });
}

/** Names to choose events from; somebody who may not read events types them. */
export const eventNamesQuery = queryOptions({
  queryKey: ["events", "names"],
  queryFn: async () =>
    (await unwrapData(api.GET("/api/v1/event-types"))).event_types.map(({ name, description }) => ({
      name,
      description,
    })),
  staleTime: Number.POSITIVE_INFINITY,
});
