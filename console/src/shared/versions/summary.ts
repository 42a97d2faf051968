import { createTranslator } from "../i18n/words";
import { translateSentence } from "../sentences/sentences";
import { isLabelledSetting, settingLabel } from "./labels";
import en from "./words.en.json";

const say = createTranslator(en, "shared/versions");

/** What a version changed: a note of a person as it is, a sentence of the server in words. */
export function translateSummary(summary: string): string {
  const fields = /^Changed ([a-z_]+(?:, [a-z_]+)*)\.$/.exec(summary)?.[1]?.split(", ");
  if (!fields?.every(isLabelledSetting)) return translateSentence(summary);
  return say("changedFields", { fields: fields.map(settingLabel).join(", ") });
}
