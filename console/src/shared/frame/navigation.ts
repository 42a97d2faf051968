import Bell from "icon:bell";
import Bot from "icon:bot";
import MessagesSquare from "icon:messages-square";
import ShieldCheck from "icon:shield-check";
import type { ComponentType } from "react";

export type Entry = {
  to: string;
  word: "agents" | "approvals" | "conversations" | "inbox";
  icon: ComponentType<{ size?: number }>;
  keys: string;
  needs?: string;
  /** Whether it is one of the tabs of a phone; the others are found by the search. */
  isTab?: boolean;
};

/** Navigation by task. An entry without its permission is not shown; a screen that does not exist is not listed. */
export const NAVIGATION: { title?: "build" | "observe"; entries: Entry[] }[] = [
  {
    entries: [
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
];
