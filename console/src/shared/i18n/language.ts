import { LANGUAGES, type Language } from "@retinue/words";

export { LANGUAGES, type Language };

const KEY = "retinue-language";

/** What the person chose here before, else the browser's first language that we have. */
function findLanguage(): Language {
  const isKnownLanguage = (name: string | null): name is Language => name !== null && name in LANGUAGES;
  if (typeof localStorage === "undefined") return "en";
  const wanted = [localStorage.getItem(KEY), ...navigator.languages.map((name) => name.slice(0, 2))];
  return wanted.find(isKnownLanguage) ?? "en";
}

export const language = findLanguage();
/** For `Intl`: days before months, as in our English. */
export const locale = language === "en" ? "en-GB" : language;

/** What stands between thousands and before a fraction, in numbers that are shown and typed. */
export function findNumberSeparators(place: string) {
  const parts = new Intl.NumberFormat(place, { useGrouping: true }).formatToParts(12345.6);
  const findSeparator = (type: string, otherwise: string) =>
    parts.find((part) => part.type === type)?.value ?? otherwise;
  return { thousands: findSeparator("group", ","), decimal: findSeparator("decimal", ".") };
}

/** Words are read once, at the start of a page: a change reloads it. */
export function changeLanguage(chosen: Language) {
  localStorage.setItem(KEY, chosen);
  location.reload();
}
