import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components, paths } from "../../api/schema";
import type { EventFilters, SubscriptionFilters } from "./filters";

type Schemas = components["schemas"];
/** Any JSON object, which the generated types cannot say. */
export type EventData = Record<string, unknown>;
export type LoggedEvent = Omit<Schemas["EventOut"], "data"> & { data: EventData };
export type EventKind = Omit<Schemas["EventTypeOut"], "schema" | "example"> & { schema: EventData; example: EventData };
type WithObjects<Body> = Omit<Body, "filters" | "action_config"> & { filters: EventData; action_config: EventData };
export type Subscription = WithObjects<Schemas["SubscriptionOut"]>;
export type SubscriptionBody = {
  event_type: string;
  action_type: Subscription["action_type"];
  action_config: EventData;
  filters: EventData;
};

export const EVENTS_PER_PAGE = 100;
export const SUBSCRIPTIONS_PER_PAGE = 50;

/** The filters as the log and its stream take them. */
export const eventQueryOf = ({ search, type, category, correlation }: EventFilters) => ({
  ...(search ? { search } : {}),
  ...(type ? { event_type: type } : {}),
  ...(category ? { category } : {}),
  ...(correlation ? { correlation_id: correlation } : {}),
});

type EventLogQuery = NonNullable<paths["/api/v1/event-log"]["get"]["parameters"]["query"]>;

const readEvents = async (query: EventLogQuery, signal?: AbortSignal) =>
  (await unwrapData(api.GET("/api/v1/event-log", { params: { query }, signal }))).data as LoggedEvent[];

/** The log backwards from now; each part begins where the one before ended. */
export const eventHistoryQuery = (filters: EventFilters) =>
  infiniteQueryOptions({
    queryKey: ["events", "log", eventQueryOf(filters)],
    queryFn: ({ pageParam, signal }) =>
      readEvents(
        { ...eventQueryOf(filters), per_page: EVENTS_PER_PAGE, ...(pageParam ? { to: pageParam } : {}) },
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: (last) => (last.length === EVENTS_PER_PAGE ? last.at(-1)?.created_at : undefined),
    // The stream tells what is new.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
export const loggedEventQuery = (id: string) =>
  queryOptions({
    queryKey: ["events", "event", id],
    queryFn: async () =>
      (await unwrapData(
        api.GET("/api/v1/event-log/{event_id}", { params: { path: { event_id: id } } }),
      )) as LoggedEvent,
  });
export const eventTraceQuery = (correlationId: string) =>
  queryOptions({
    queryKey: ["events", "trace", correlationId],
    queryFn: async () => {
      const found = await unwrapData(
        api.GET("/api/v1/event-log/trace/{correlation_id}", { params: { path: { correlation_id: correlationId } } }),
      );
      return { total: found.total, events: found.data as LoggedEvent[] };
    },
  });
/** The catalogue: what happens here, with the schema of each. */
export const eventKindsQuery = queryOptions({
  queryKey: ["event-kinds"],
  queryFn: async () => (await unwrapData(api.GET("/api/v1/event-types"))).event_types as EventKind[],
  staleTime: Number.POSITIVE_INFINITY,
});
export const emitTestEvent = (body: { event_type: string; data: EventData }) =>
  unwrapData(api.POST("/api/v1/events/test", { body: { ...body, strict: false } as unknown as Schemas["EventTest"] }));

export const subscriptionListQuery = ({ show, page }: SubscriptionFilters) =>
  queryOptions({
    queryKey: ["events", "subscriptions", { show, page }],
    queryFn: async ({ signal }) => {
      const answer = await unwrapData(
        api.GET("/api/v1/event-subscriptions", {
          params: {
            query: { per_page: SUBSCRIPTIONS_PER_PAGE, page: page ?? 1, ...(show === "off" ? { active: false } : {}) },
          },
          signal,
        }),
      );
      return { ...answer, data: answer.data as Subscription[] };
    },
  });
export const subscriptionQuery = (id: string) =>
  queryOptions({
    queryKey: ["events", "subscription", id],
    queryFn: async () =>
      (await unwrapData(
        api.GET("/api/v1/event-subscriptions/{subscription_id}", { params: { path: { subscription_id: id } } }),
      )) as Subscription,
  });
/** The last events of a type, to see what conditions would match; of a pattern, the last of any. */
export const lastEventsQuery = (type: string) =>
  queryOptions({
    queryKey: ["events", "last", type],
    queryFn: ({ signal }) =>
      readEvents({ per_page: EVENTS_PER_PAGE, ...(type.endsWith("*") ? {} : { event_type: type }) }, signal),
    enabled: Boolean(type),
    // Something may have happened since it was shown before.
    staleTime: 0,
  });
export const createSubscription = async (body: SubscriptionBody) =>
  (await unwrapData(
    api.POST("/api/v1/event-subscriptions", { body: body as unknown as Schemas["SubscriptionCreate"] }),
  )) as Subscription;
export const updateSubscription = ({ id, ...body }: Partial<SubscriptionBody> & { id: string; active?: boolean }) =>
  unwrapData(
    api.PUT("/api/v1/event-subscriptions/{subscription_id}", {
      params: { path: { subscription_id: id } },
      body: body as unknown as Schemas["SubscriptionUpdate"],
    }),
  );
export const deleteSubscription = (id: string) =>
  unwrapData(
    api.DELETE("/api/v1/event-subscriptions/{subscription_id}", { params: { path: { subscription_id: id } } }),
  );

/** A change of subscriptions; what shows them is read again. */
export function useSubscriptionChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: ["events"] }),
  });
}

export const hasEventFilters = ({ search, type, category, correlation }: EventFilters) =>
  Boolean(search || type || category || correlation);
