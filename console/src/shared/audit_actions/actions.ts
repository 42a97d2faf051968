import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/audit_actions");
type ActionWord = keyof typeof en;
const WORDS = Object.keys(en) as ActionWord[];
const isActionWord = (key: string): key is ActionWord => key in en;

/** Each area of the log as the prefix of its actions, such as `system.user.*`, and those actions. */
export const AUDIT_AREAS: readonly { area: string; actions: readonly string[] }[] = WORDS.filter((key) =>
  key.endsWith(".*"),
).map((area) => ({
  area,
  actions: WORDS.filter((key) => key !== area && key.startsWith(area.slice(0, -1))),
}));

/** What was done, in words, or the area of a prefix; an action that is newer than this console stands for itself. */
export const auditActionName = (action: string): string => (isActionWord(action) ? say(action) : action);
