import de from "./widget.de.json";
import en from "./widget.en.json";
import { languageOf, type SectionWords } from "./words";

export type WidgetWords = typeof en;

const WORDS: SectionWords<WidgetWords> = { en, de };

/** What the widget says in the language of this tag; English for languages that we do not have. */
export const widgetWords = (tag: string | null | undefined) => WORDS[languageOf(tag) ?? "en"];
