import de from "./hosted.de.json";
import en from "./hosted.en.json";
import { matchLanguage, type SectionWords } from "./words";

export type HostedWords = typeof en;

const WORDS: SectionWords<HostedWords> = { en, de };

/** What a hosted page says in the language of this tag; English for languages that we do not have. */
export const selectHostedWords = (tag: string | null | undefined) => WORDS[matchLanguage(tag) ?? "en"];
