import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import type { Outcome } from "../../shared/patterns/outcome_bars";

type Schemas = components["schemas"];
/** Keys and values of a provider. The API takes any JSON there, which its generated types cannot say. */
export type ChannelConfig = Record<string, unknown>;
type WithConfig<Body> = Omit<Body, "config"> & { config: ChannelConfig };
export type DeliveryChannel = WithConfig<Schemas["ChannelOut"]>;
export type DeliveryChannelListed = Schemas["ChannelSummary"];
export type ChannelProvider = Schemas["NotificationProvider"];
export type ChannelMessage = Schemas["ChannelLogOut"];
export type ChannelFigures = Schemas["ChannelStats"];
export type ChannelTest = Schemas["ChannelTested"];
export type ChannelChanges = Omit<Schemas["ChannelUpdate"], "config"> & { config?: ChannelConfig };

export const DAYS_OF_MESSAGES = 14;
export const MESSAGES_PER_PAGE = 10;
export const MAX_CREDENTIAL_CHOICES = 100;
const DAY_MS = 86_400_000;
const pathOf = (id: string) => ({ params: { path: { channel_id: id } } });

export const channelsQuery = queryOptions({
  queryKey: ["channels", "list"],
  queryFn: async ({ signal }) => (await unwrapData(api.GET("/api/v1/notification-channels", { signal }))).data,
});

/** What each channel sent and what failed, by day, the oldest first: one request for all of them. */
export const channelOutcomesQuery = queryOptions({
  queryKey: ["channels", "outcomes"],
  queryFn: async ({ signal }) => {
    const query = { period: `${DAYS_OF_MESSAGES}d`, include: "channels" } as const;
    const stats = await unwrapData(api.GET("/api/v1/notification-channels/stats", { params: { query }, signal }));
    const first = Math.floor(Date.now() / DAY_MS) - DAYS_OF_MESSAGES + 1;
    return Object.fromEntries(
      (stats.by_channel ?? []).map(({ channel_id: id, by_day: days }) => {
        const outcomes: Outcome[] = Array.from({ length: DAYS_OF_MESSAGES }, () => ({ total: 0, failed: 0 }));
        for (const { date, total_sent: total, failed } of days) {
          const place = Math.floor(Date.parse(date) / DAY_MS) - first;
          if (place >= 0 && place < DAYS_OF_MESSAGES) outcomes[place] = { total, failed };
        }
        return [id, outcomes];
      }),
    );
  },
});
export const channelProvidersQuery = queryOptions({
  queryKey: ["channels", "providers"],
  queryFn: async () => (await unwrapData(api.GET("/api/v1/notification-channels/providers"))).providers,
  staleTime: Number.POSITIVE_INFINITY,
});
export const channelQuery = (id: string) =>
  queryOptions({
    queryKey: ["channels", "one", id],
    queryFn: async () =>
      (await unwrapData(
        api.GET("/api/v1/notification-channels/{channel_id}", pathOf(id)),
      )) as unknown as DeliveryChannel,
  });
export const channelMessagesQuery = (id: string, isFailed: boolean, page: number) =>
  queryOptions({
    queryKey: ["channels", "one", id, "messages", { isFailed, page }],
    queryFn: () =>
      unwrapData(
        api.GET("/api/v1/notification-channels/{channel_id}/logs", {
          params: {
            path: { channel_id: id },
            query: { per_page: MESSAGES_PER_PAGE, page, ...(isFailed ? { status: "failed" as const } : {}) },
          },
        }),
      ),
    placeholderData: keepPreviousData,
  });
export const channelFiguresQuery = (id: string, period: ChannelFigures["period"]) =>
  queryOptions({
    queryKey: ["channels", "one", id, "figures", period],
    queryFn: () =>
      unwrapData(
        api.GET("/api/v1/notification-channels/{channel_id}/stats", {
          params: { path: { channel_id: id }, query: { period } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
/** What stops working without the channel, by kind. */
export const channelUsersQuery = (id: string) =>
  queryOptions({
    queryKey: ["channels", "one", id, "users"],
    queryFn: () => unwrapData(api.GET("/api/v1/notification-channels/{channel_id}/usage", pathOf(id))),
    staleTime: 0,
  });
/** Credentials that can stand in for the secrets of a channel. */
export const channelCredentialsQuery = queryOptions({
  queryKey: ["credentials", "choices", "channels"],
  queryFn: async () =>
    (
      await unwrapData(
        api.GET("/v1/credentials", { params: { query: { per_page: MAX_CREDENTIAL_CHOICES, sort: "name" } } }),
      )
    ).data.map(({ id, name }) => ({ value: id, label: name })),
});

export const createChannel = async (body: WithConfig<Schemas["ChannelCreate"]>) =>
  unwrapData(api.POST("/api/v1/notification-channels", { body: body as Schemas["ChannelCreate"] }));
export const updateChannel = async ({ id, ...body }: ChannelChanges & { id: string }) =>
  unwrapData(
    api.PUT("/api/v1/notification-channels/{channel_id}", { ...pathOf(id), body: body as Schemas["ChannelUpdate"] }),
  );
export const deleteChannel = (id: string) =>
  unwrapData(api.DELETE("/api/v1/notification-channels/{channel_id}", pathOf(id)));
export const testChannel = (id: string) =>
  unwrapData(api.POST("/api/v1/notification-channels/{channel_id}/test", pathOf(id)));
/** Read the configuration in clear. It is an act that is audited: it is never prefetched, cached or repeated. */
export const revealChannel = async (id: string): Promise<ChannelConfig> =>
  (await unwrapData(api.GET("/api/v1/notification-channels/{channel_id}/reveal", pathOf(id)))).config;

/** A change of channels; everything that shows them is read again. */
export function useChannelChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: ["channels"] }),
  });
}
