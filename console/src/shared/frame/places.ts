import type { ComponentType } from "react";
import { createTranslator } from "../i18n/words";
import { operatePlaceName } from "../operate/names";
import { OPERATE_PERMISSION, OPERATE_TABS } from "../operate/tabs";
import { settingsPlaceName } from "../settings/names";
import { SETTINGS_TABS } from "../settings/tabs";
import { usagePlaceName } from "../usage/names";
import { USAGE_TABS } from "../usage/tabs";
import { isEntryAllowed, NAVIGATION } from "./navigation";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");

/** A screen with an address of its own that one gets to by name. */
export type ConsolePlace = {
  to: string;
  label: string;
  icon?: ComponentType<{ size?: number }>;
  /** The keys that lead there, such as "g a". */
  keys?: string;
};
type PlaceTab = { to: string; needs?: string | readonly string[]; keys?: string };
type TabList = { area: string; tabs: readonly (PlaceTab & { label: string })[] };

/** The second level of the navigation. An area with tabs is one line; its tabs come from its own list. */
const TAB_LISTS: readonly TabList[] = [
  { area: "/settings", tabs: SETTINGS_TABS.map((tab) => ({ ...tab, label: settingsPlaceName(tab) })) },
  // The first tab of these is the entry of the navigation itself.
  { area: "/usage", tabs: USAGE_TABS.slice(1).map((tab) => ({ ...tab, label: usagePlaceName(tab) })) },
  { area: "/conversations", tabs: [{ to: "/traces", needs: "traces:read", label: say("traces") }] },
  {
    area: "/operate",
    tabs: OPERATE_TABS.slice(1).map((tab) => ({ ...tab, needs: OPERATE_PERMISSION, label: operatePlaceName(tab) })),
  },
];

const isAllowed = ({ needs }: PlaceTab, permissions: readonly string[]) =>
  !needs || [needs].flat().some((one) => permissions.includes(one));

/** Every screen of the navigation and its tabs that somebody with these permissions may open, in their order. */
export function listConsolePlaces(permissions: readonly string[]): ConsolePlace[] {
  const entries = NAVIGATION.flatMap((group) => group.entries).filter((entry) => isEntryAllowed(entry, permissions));
  return entries.flatMap(({ to, word, icon, keys }) => [
    { to, label: say(word), icon, keys: `g ${keys}` },
    ...TAB_LISTS.filter(({ area }) => area === to)
      .flatMap(({ tabs }) => tabs)
      .filter((tab) => isAllowed(tab, permissions))
      .map((tab) => ({
        to: tab.to,
        label: tab.label,
        icon,
        keys: tab.keys && `g ${tab.keys}`,
      })),
  ]);
}
