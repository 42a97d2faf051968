import { language } from "./language";

type Values = Record<string, string | number>;
type Table = Record<string, string>;

// Made once: they cost more than a text, and a list says hundreds of texts.
const rules = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(language);
const PLURAL = /\{(\w+), plural, one \{([^{}]*)\} other \{([^{}]*)\}\}/g;

/** Put values into a text: `{name}` and `{count, plural, one {# agent} other {# agents}}`. */
export function renderText(text: string, values: Values): string {
  if (!text.includes("{")) return text;
  return text
    .replace(PLURAL, (_, name: string, one: string, other: string) => {
      const count = Number(values[name]);
      return (rules.select(count) === "one" ? one : other).replaceAll("#", numbers.format(count));
    })
    .replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name];
      return value === undefined ? whole : typeof value === "number" ? numbers.format(value) : value;
    });
}

// The words of a language stand in one file of their own, which is fetched before the first screen that needs them.
const translations: Record<string, Table> = language === "de" ? (await import("./german")).german : {};

/** The translated texts of a folder; none in English, or if the language has none for it. */
export const findTranslation = (folder: string): Table | undefined => translations[folder];

/**
 * The words of a folder: `const say = words(en, "features/agents")`, then `say("title")`.
 * A key that is missing does not compile; a text that is not translated stays English.
 */
export function createTranslator<T extends Table>(table: T, folder: string) {
  const translated = translations[folder];
  return (key: keyof T & string, values: Values = {}): string =>
    renderText(translated?.[key] ?? table[key] ?? key, values);
}
