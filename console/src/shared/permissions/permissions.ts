import { words } from "../i18n/words";
import en from "./words.en.json";

const say = words(en, "shared/permissions");
const isWord = (key: string): key is keyof typeof en => key in en;

/** What a permission is about: `data_tables` is "Data tables". What is newer than this console stands for itself. */
export const areaName = (area: string): string =>
  isWord(`area_${area}`) ? say(`area_${area}` as keyof typeof en) : area;

/** What a permission allows there: `write` is "change". */
export const verbName = (verb: string): string =>
  isWord(`verb_${verb}`) ? say(`verb_${verb}` as keyof typeof en) : verb;

/** `agents:write` is "Agents: change". */
export function permissionName(key: string): string {
  const [area = key, verb] = key.split(":");
  return verb ? `${areaName(area)}: ${verbName(verb)}` : areaName(area);
}
