import { createTranslator } from "../../shared/i18n/words";
import { showToast } from "../../shared/toast/toasts";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

/** Copy a command and say so; browsers may refuse, and have no clipboard on pages of an unsafe address. */
export async function copyCommand(command: string, done: string) {
  try {
    await navigator.clipboard.writeText(command);
    showToast(done);
  } catch {
    showToast(say("notCopied"));
  }
}
