import { createTranslator } from "../i18n/words";
import type { SettingsTab } from "./tabs";
import en from "./words.en.json";

const say = createTranslator(en, "shared/settings");

export const settingsTabName = ({ word }: Pick<SettingsTab, "word">): string => say(word);

/** The tab with where it stands, for lists of places: "Settings › Roles". */
export const settingsPlaceName = (tab: SettingsTab): string => say("place", { name: settingsTabName(tab) });
