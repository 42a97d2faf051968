import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/permissions");
const isPermissionWord = (key: string): key is keyof typeof en => key in en;

/** What a permission is about: `data_tables` is "Data tables". What is newer than this console stands for itself. */
export const permissionAreaName = (area: string): string =>
  isPermissionWord(`area_${area}`) ? say(`area_${area}` as keyof typeof en) : area;

/** What a permission allows there: `write` is "change". */
export const permissionVerbName = (verb: string): string =>
  isPermissionWord(`verb_${verb}`) ? say(`verb_${verb}` as keyof typeof en) : verb;

/** `agents:write` is "Agents: change". */
export function permissionNameOf(key: string): string {
  const [area = key, verb] = key.split(":");
  return verb ? `${permissionAreaName(area)}: ${permissionVerbName(verb)}` : permissionAreaName(area);
}

/** Talking to agents takes their conversations and the files that are sent along. */
export const CHAT_PERMISSIONS: readonly string[] = [
  "agents:chat",
  "conversations:read",
  "conversations:write",
  "files:read",
  "files:write",
];
