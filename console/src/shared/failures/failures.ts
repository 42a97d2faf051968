import { language } from "../i18n/language";
import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/failures");
type Code = keyof typeof en;

/** Why work failed, by the code in its record; undefined for a code that is newer than this console. */
export const describeFailureCode = (code: string | null | undefined): string | undefined =>
  code && code in en ? say(code as Code) : undefined;

/** The server's own sentence where it speaks the language of the console, else the words of its code. */
export const describeFailure = (error: { code?: string; message?: string } | null | undefined): string | undefined =>
  (language === "en"
    ? error?.message || describeFailureCode(error?.code)
    : describeFailureCode(error?.code) || error?.message) || undefined;
