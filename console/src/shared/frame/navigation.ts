import Bell from "icon:bell";
import Bot from "icon:bot";
import type { ComponentType } from "react";

export type Entry = {
  to: string;
  word: "agents" | "inbox";
  icon: ComponentType<{ size?: number }>;
  keys: string;
  needs?: string;
};

/** Navigation by task. An entry without its permission is not shown; a screen that does not exist is not listed. */
export const NAVIGATION: { title?: "build"; entries: Entry[] }[] = [
  { entries: [{ to: "/inbox", word: "inbox", icon: Bell, keys: "i" }] },
  { title: "build", entries: [{ to: "/agents", word: "agents", icon: Bot, keys: "a", needs: "agents:read" }] },
];
