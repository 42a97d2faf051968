import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { checkServer, isServerGone, subscribeToServer } from "../../api/connection";
import { unreadQuery } from "../../api/queries";
import { openEventStream } from "../../api/stream";

const HIDDEN_MS = 60_000;
const RETRY_MS = 15_000;

/** Queries by the type of a changed object, where its name alone does not tell. */
const DOMAINS: Record<string, string> = {
  conversation: "chat",
  data_table: "tables",
  data_table_row: "tables",
  workflow_execution: "workflows",
  form_submission: "forms",
  incoming_webhook: "incoming",
  subscription: "events",
  channel: "channels",
  api_key: "providers",
  embed_key: "embed",
};
/** The queries that show objects of a type. */
export const queryDomainOf = (type: string) => DOMAINS[type] ?? `${type}s`;

/** Another count than the one that is known: something was read elsewhere, perhaps by what it asked for being done. */
function updateUnreadCount(client: QueryClient, unread: { count: number }) {
  const before = client.getQueryData(unreadQuery.queryKey);
  client.setQueryData(unreadQuery.queryKey, unread as never);
  if (before && before.count !== unread.count) void client.invalidateQueries({ queryKey: ["notifications", "list"] });
}

/** Follow the inbox while the tab is looked at: one connection, closed in hidden tabs after a minute. */
export function useLiveInbox() {
  const client = useQueryClient();
  useEffect(() => {
    let control: AbortController | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const followStream = async () => {
      if (control || isOver) return;
      control = new AbortController();
      try {
        for await (const { event, data } of openEventStream("/api/v1/notifications/stream", {
          signal: control.signal,
        })) {
          if (event === "unread") updateUnreadCount(client, data as { count: number });
          if (event === "changed")
            void client.invalidateQueries({ queryKey: [queryDomainOf((data as { type: string }).type)] });
          if (event === "notification") {
            void client.invalidateQueries({ queryKey: ["notifications"] });
            void client.invalidateQueries({ queryKey: ["approvals"] });
            void client.invalidateQueries({ queryKey: ["home"] });
          }
        }
        // A server ends a stream that nobody has left only when it goes.
        if (!control.signal.aborted) checkServer();
      } catch {
        // The page says that the server is gone; the stream comes back with it.
      }
      control = undefined;
      if (!isOver && !document.hidden && !isServerGone()) timer = setTimeout(followStream, RETRY_MS);
    };
    const followVisibility = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => control?.abort(), HIDDEN_MS);
      else void followStream();
    };
    document.addEventListener("visibilitychange", followVisibility);
    const forget = subscribeToServer(() => {
      clearTimeout(timer);
      if (!isServerGone() && !document.hidden) void followStream();
    });
    void followStream();
    return () => {
      isOver = true;
      forget();
      clearTimeout(timer);
      control?.abort();
      document.removeEventListener("visibilitychange", followVisibility);
    };
  }, [client]);
}
