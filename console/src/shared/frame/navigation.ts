import Bell from "icon:bell";
import Bot from "icon:bot";
import Cpu from "icon:cpu";
import House from "icon:house";
import KeyRound from "icon:key-round";
import MessagesSquare from "icon:messages-square";
import ShieldCheck from "icon:shield-check";
import type { ComponentType } from "react";

export type Entry = {
  to: string;
  word: "agents" | "approvals" | "conversations" | "home" | "inbox" | "models" | "serviceAccounts";
  icon: ComponentType<{ size?: number }>;
  keys: string;
  needs?: string;
  /** Whether it is one of the tabs of a phone; the others are under "More". */
  isTab?: boolean;
};

/** Navigation by task. An entry without its permission is not shown; a screen that does not exist is not listed. */
export const NAVIGATION: { title?: "admin" | "build" | "observe"; entries: Entry[] }[] = [
  {
    entries: [
      { to: "/", word: "home", icon: House, keys: "h", isTab: true },
      { to: "/approvals", word: "approvals", icon: ShieldCheck, keys: "p", needs: "approvals:read", isTab: true },
      { to: "/inbox", word: "inbox", icon: Bell, keys: "i", isTab: true },
    ],
  },
  {
    title: "build",
    entries: [{ to: "/agents", word: "agents", icon: Bot, keys: "a", needs: "agents:read", isTab: true }],
  },
  {
    title: "observe",
    entries: [
      { to: "/conversations", word: "conversations", icon: MessagesSquare, keys: "c", needs: "conversations:read" },
    ],
  },
  {
    title: "admin",
    entries: [
      { to: "/models", word: "models", icon: Cpu, keys: "m", needs: "api_keys:read" },
      { to: "/service-accounts", word: "serviceAccounts", icon: KeyRound, keys: "s", needs: "service_accounts:read" },
    ],
  },
];
