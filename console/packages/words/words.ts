export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

/** The words of a section in each language; a key that one of them lacks does not compile. */
export type SectionWords<Table> = Record<Language, Table>;

/** The language of a tag such as `de-AT`, if we have it. */
export function matchLanguage(tag: string | null | undefined): Language | undefined {
  const found = (tag ?? "").slice(0, 2).toLowerCase();
  return found in LANGUAGES ? (found as Language) : undefined;
}

/** Put values into a text: `{name}`. A name without a value stays. */
export const fillPlaceholders = (text: string, values: object) =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String((values as Record<string, unknown>)[name] ?? whole));
