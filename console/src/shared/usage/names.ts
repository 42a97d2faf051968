import { createTranslator } from "../i18n/words";
import type { UsageTab } from "./tabs";
import en from "./words.en.json";

const say = createTranslator(en, "shared/usage");

export const usageTabName = ({ word }: Pick<UsageTab, "word">): string => say(word);

/** The tab with where it stands, for lists of places: "Usage › Budgets". */
export const usagePlaceName = (tab: UsageTab): string => say("place", { name: usageTabName(tab) });
