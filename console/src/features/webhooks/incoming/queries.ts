import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../../api/client";
import type { components } from "../../../api/schema";
import type { ReceivedFilters, WebhookFilters } from "../filters";

type Schemas = components["schemas"];
export type IncomingWebhook = Schemas["IncomingWebhookOut"];
export type IncomingBody = Schemas["IncomingWebhookCreate"];
export type VerificationName = IncomingWebhook["verification"]["type"];
/** What came in, with any JSON as its payload. */
export type Received = Omit<Schemas["ReceivedOut"], "payload"> & { payload: unknown };

export const INCOMING_PER_PAGE = 50;
export const RECEIVED_PER_PAGE = 50;
const pathOf = (id: string) => ({ params: { path: { incoming_webhook_id: id } } });

export const incomingListQuery = ({ search, show, page }: WebhookFilters) =>
  queryOptions({
    queryKey: ["incoming", "list", { search, show, page }],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/incoming-webhooks", {
          params: {
            query: {
              per_page: INCOMING_PER_PAGE,
              page: page ?? 1,
              ...(search ? { search } : {}),
              ...(show === "off" ? { active: false } : {}),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
export const incomingQuery = (id: string) =>
  queryOptions({
    queryKey: ["incoming", "one", id],
    queryFn: () => unwrapData(api.GET("/api/v1/incoming-webhooks/{incoming_webhook_id}", pathOf(id))),
  });
export const receivedListQuery = (id: string, { status, page }: ReceivedFilters) =>
  queryOptions({
    queryKey: ["incoming", "one", id, "received", { status, page }],
    queryFn: async ({ signal }) => {
      const answer = await unwrapData(
        api.GET("/api/v1/incoming-webhooks/{incoming_webhook_id}/events", {
          params: {
            path: { incoming_webhook_id: id },
            query: { per_page: RECEIVED_PER_PAGE, page: page ?? 1, ...(status ? { status } : {}) },
          },
          signal,
        }),
      );
      return { ...answer, data: answer.data as Received[] };
    },
    placeholderData: keepPreviousData,
  });
export const receivedQuery = (id: string, receivedId: string) =>
  queryOptions({
    queryKey: ["incoming", "one", id, "payload", receivedId],
    queryFn: async () =>
      (await unwrapData(
        api.GET("/api/v1/incoming-webhooks/{incoming_webhook_id}/events/{received_id}", {
          params: { path: { incoming_webhook_id: id, received_id: receivedId } },
        }),
      )) as Received,
  });

export const createIncoming = (body: IncomingBody) => unwrapData(api.POST("/api/v1/incoming-webhooks", { body }));
export const updateIncoming = ({ id, ...body }: Partial<IncomingBody> & { id: string }) =>
  unwrapData(
    api.PUT("/api/v1/incoming-webhooks/{incoming_webhook_id}", {
      ...pathOf(id),
      body: body as Schemas["IncomingWebhookUpdate"],
    }),
  );
export const deleteIncoming = (id: string) =>
  unwrapData(api.DELETE("/api/v1/incoming-webhooks/{incoming_webhook_id}", pathOf(id)));
export const replayReceived = ({ id, receivedId }: { id: string; receivedId: string }) =>
  unwrapData(
    api.POST("/api/v1/incoming-webhooks/{incoming_webhook_id}/events/{received_id}/replay", {
      params: { path: { incoming_webhook_id: id, received_id: receivedId } },
    }),
  );

/** A change of incoming webhooks; everything that shows them is read again. */
export function useIncomingChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: ["incoming"] }),
  });
}

const CHOICES = 100;
/** Workflows that a payload can start. */
export const startableWorkflowsQuery = queryOptions({
  queryKey: ["workflows", "choices", "incoming"],
  queryFn: async () =>
    (await unwrapData(api.GET("/api/v1/workflows", { params: { query: { per_page: CHOICES } } }))).data.map(
      ({ id, name }) => ({ value: id, label: name }),
    ),
  staleTime: 60_000,
});
