import { createTranslator } from "../../shared/i18n/words";
import type { DecidedSetting } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/organization");
const isWord = (key: string): key is keyof typeof en => key in en;

/** What a setting is called; one that is newer than this console stands for itself. */
export function settingNameOf(name: string): string {
  const word = `setting_${name}`;
  return isWord(word) ? say(word) : name;
}

/** The value in words: `open` of `sign_up` is "Everybody, at once". */
export function describeSetting({ name, value }: Pick<DecidedSetting, "name" | "value">): string {
  if (value === null || value === "") return say("notSet");
  const own = `${name}_${String(value)}`;
  if (isWord(own)) return say(own);
  if (name.endsWith("_days") && typeof value === "number") return say("days", { count: value });
  if (typeof value === "boolean") return say(value ? "yes" : "no");
  return String(value);
}
