import { words } from "../i18n/words";
import { translateSentence } from "../sentences/sentences";
import en from "./words.en.json";

const say = words(en, "shared/versions");
const isField = (name: string): name is keyof typeof en => name in en;

/** What a version changed: a note of a person as it is, a sentence of the server in words. */
export function summaryWords(summary: string): string {
  const fields = /^Changed ([a-z_]+(?:, [a-z_]+)*)\.$/.exec(summary)?.[1]?.split(", ");
  if (!fields?.every(isField)) return translateSentence(summary);
  return say("changedFields", { fields: fields.map((field) => say(field)).join(", ") });
}
