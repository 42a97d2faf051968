import { createTranslator } from "../i18n/words";
import type { OperateTab } from "./tabs";
import en from "./words.en.json";

const say = createTranslator(en, "shared/operate");

export const operateTabName = ({ word }: Pick<OperateTab, "word">): string => say(word);

/** The tab with where it stands, for lists of places: "Operate › Jobs". */
export const operatePlaceName = (tab: OperateTab): string => say("place", { name: operateTabName(tab) });
