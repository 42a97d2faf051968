import { createTranslator } from "./words";
import en from "./words.en.json";

/** Words of the parts that have no folder of their own. */
export const general = createTranslator(en, "shared/i18n");
