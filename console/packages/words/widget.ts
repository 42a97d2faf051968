import de from "./widget.de.json";
import en from "./widget.en.json";
import { matchLanguage, type SectionWords } from "./words";

export type WidgetWords = typeof en;

const WORDS: SectionWords<WidgetWords> = { en, de };

/** What the widget says in the language of this tag; English for languages that we do not have. */
export const selectWidgetWords = (tag: string | null | undefined) => WORDS[matchLanguage(tag) ?? "en"];
