import { createTranslator } from "../../shared/i18n/words";
import { permissionNameOf } from "../../shared/permissions/permissions";
import en from "./words.en.json";

const say = createTranslator(en, "features/reference");
const WORDS = { public: "needsNothing", signed_in: "needsSession", account: "needsAccount" } as const;

const isWord = (requires: string): requires is keyof typeof WORDS => requires in WORDS;

/** Whether an operation asks for a permission, and not only for a session or for nothing. */
export const needsPermission = (requires: string): boolean => !isWord(requires);

/** Who may call an operation: a permission with its key, or in words. */
export const nameRequirement = (requires: string): string =>
  isWord(requires) ? say(WORDS[requires]) : `${permissionNameOf(requires)} (${requires})`;
