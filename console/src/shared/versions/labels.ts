import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/versions");

/** What a setting of an agent is called, by its control and wherever versions are compared. */
export const settingLabel = (field: keyof typeof en) => say(field);

export const isLabelledSetting = (field: string): field is keyof typeof en => field in en;
