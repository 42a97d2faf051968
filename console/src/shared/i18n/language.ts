export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

const KEY = "retinue-language";

/** What the person chose here before, else the browser's first language that we have. */
function find(): Language {
  const isKnown = (name: string | null): name is Language => name !== null && name in LANGUAGES;
  if (typeof localStorage === "undefined") return "en";
  const wanted = [localStorage.getItem(KEY), ...navigator.languages.map((name) => name.slice(0, 2))];
  return wanted.find(isKnown) ?? "en";
}

export const language = find();
/** For `Intl`: days before months, as in our English. */
export const locale = language === "en" ? "en-GB" : language;

/** Words are read once, at the start of a page: a change reloads it. */
export function changeLanguage(chosen: Language) {
  localStorage.setItem(KEY, chosen);
  location.reload();
}
