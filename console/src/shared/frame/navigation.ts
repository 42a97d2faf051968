import Bell from "icon:bell";
import Bot from "icon:bot";
import ChartColumn from "icon:chart-column";
import House from "icon:house";
import KeyRound from "icon:key-round";
import Megaphone from "icon:megaphone";
import MessageCircle from "icon:message-circle";
import MessagesSquare from "icon:messages-square";
import Radio from "icon:radio";
import Server from "icon:server";
import Settings2 from "icon:settings-2";
import ShieldCheck from "icon:shield-check";
import Table2 from "icon:table-2";
import Webhook from "icon:webhook";
import Wrench from "icon:wrench";
import type { ComponentType } from "react";
import { SETTINGS_TABS } from "../settings/tabs";

export type Entry = {
  to: string;
  word:
    | "agents"
    | "approvals"
    | "channels"
    | "chat"
    | "conversations"
    | "credentials"
    | "events"
    | "home"
    | "inbox"
    | "operate"
    | "settings"
    | "tables"
    | "tools"
    | "usage"
    | "webhooks";
  icon: ComponentType<{ size?: number }>;
  keys: string;
  /** The permission that it needs; of several, any one. */
  needs?: string | readonly string[];
  /** Whether it is one of the tabs of a phone; the others are under "More". */
  isTab?: boolean;
};

export type EntryGroup = { title?: "build" | "connect" | "observe"; entries: Entry[] };

/** Where the navigation has its words; below, it is a rail of icons. */
export const WIDE_NAVIGATION = "(min-width: 1101px)";

/** Navigation by task. An entry without its permission is not shown; a screen that does not exist is not listed. */
export const NAVIGATION: EntryGroup[] = [
  {
    entries: [
      { to: "/", word: "home", icon: House, keys: "h", isTab: true },
      { to: "/chat", word: "chat", icon: MessageCircle, keys: "b", needs: "agents:chat", isTab: true },
      { to: "/approvals", word: "approvals", icon: ShieldCheck, keys: "p", needs: "approvals:read", isTab: true },
      { to: "/inbox", word: "inbox", icon: Bell, keys: "i", isTab: true },
    ],
  },
  {
    title: "build",
    entries: [
      { to: "/agents", word: "agents", icon: Bot, keys: "a", needs: "agents:read" },
      { to: "/tables", word: "tables", icon: Table2, keys: "d", needs: "data_tables:read" },
      { to: "/tools", word: "tools", icon: Wrench, keys: "t", needs: "tools:read" },
    ],
  },
  {
    title: "connect",
    entries: [
      { to: "/webhooks", word: "webhooks", icon: Webhook, keys: "k", needs: "webhooks:read" },
      { to: "/events", word: "events", icon: Radio, keys: "e", needs: "events:read" },
      { to: "/channels", word: "channels", icon: Megaphone, keys: "l", needs: "notification_channels:read" },
      { to: "/credentials", word: "credentials", icon: KeyRound, keys: "r", needs: "credentials:read" },
    ],
  },
  {
    title: "observe",
    entries: [
      { to: "/conversations", word: "conversations", icon: MessagesSquare, keys: "c", needs: "conversations:read" },
      { to: "/usage", word: "usage", icon: ChartColumn, keys: "u", needs: "usage:read" },
    ],
  },
  {
    entries: [
      { to: "/settings", word: "settings", icon: Settings2, keys: "s", needs: SETTINGS_TABS.map((tab) => tab.needs) },
      { to: "/operate", word: "operate", icon: Server, keys: "o", needs: "admin:tenants" },
    ],
  },
];

/** Somebody who may chat and see no agents, and thus no part of the console that is made of them. */
export const isChatOnly = (permissions: readonly string[]): boolean =>
  permissions.includes("agents:chat") && !permissions.includes("agents:read");

/** Somebody who chats and does not build: the console opens at Chat. */
export const isChatFirst = (permissions: readonly string[]): boolean =>
  permissions.includes("agents:chat") && !permissions.includes("agents:write");

/** The entries of people who only chat; the chats themselves are their navigation. */
const FOR_CHAT_ONLY = ["/chat", "/inbox"];

/** Whether an entry is shown to somebody with these permissions. */
export const isEntryAllowed = ({ to, needs }: Entry, permissions: readonly string[]): boolean =>
  (!needs || [needs].flat().some((one) => permissions.includes(one))) &&
  (!isChatOnly(permissions) || FOR_CHAT_ONLY.includes(to));
