import type { Notification } from "./notification_words";

const SCREENS = /^\/console(\/[^?#]*)(?:\?([^#]*))?$/;
/** What the page of a notification needs; others open for everybody. */
const NEEDS: [start: string, permission: string][] = [
  ["/agents", "agents:read"],
  ["/approvals", "approvals:read"],
  ["/settings/people", "admin:users"],
  ["/usage/prices", "agents:read"],
  ["/tools", "tools:read"],
  ["/usage", "usage:read"],
];

export type NotificationPlace = { to: string; search: Record<string, string> };

/** The page of the console on which somebody acts on a notification; undefined if there is none, or not for them. */
export function findNotificationPlace(
  { action_url, data }: Pick<Notification, "action_url" | "data">,
  may: (permission: string) => boolean,
): NotificationPlace | undefined {
  const { approval_id: approvalId } = data as Record<string, unknown>;
  const place =
    typeof approvalId === "string" ? { to: "/approvals", search: { id: approvalId } } : readScreen(action_url);
  const needed = place && NEEDS.find(([start]) => place.to.startsWith(start))?.[1];
  return needed === undefined || may(needed) ? place : undefined;
}

/** The console's own part of an address; pages elsewhere are not its business. */
function readScreen(address: string | null): NotificationPlace | undefined {
  const [, to, query] = SCREENS.exec(address ?? "") ?? [];
  return to ? { to, search: Object.fromEntries(new URLSearchParams(query)) } : undefined;
}
