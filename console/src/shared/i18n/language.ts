import { LANGUAGES, type Language } from "@retinue/words";

export { LANGUAGES, type Language };

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

/** What stands between thousands and before a fraction, in numbers that are shown and typed. */
export function separatorsOf(place: string) {
  const parts = new Intl.NumberFormat(place, { useGrouping: true }).formatToParts(12345.6);
  const find = (type: string, otherwise: string) => parts.find((part) => part.type === type)?.value ?? otherwise;
  return { thousands: find("group", ","), decimal: find("decimal", ".") };
}

/** Words are read once, at the start of a page: a change reloads it. */
export function changeLanguage(chosen: Language) {
  localStorage.setItem(KEY, chosen);
  location.reload();
}
