import { createTranslator } from "../../../shared/i18n/words";
import en from "../words.en.json";

const say = createTranslator(en, "features/organization");
const isWord = (key: string): key is keyof typeof en => key in en;

/** What the objects of a section are called; a section that is newer than this console stands for itself. */
export function sectionNameOf(section: string): string {
  const word = `section_${section}`;
  return isWord(word) ? say(word) : section;
}
