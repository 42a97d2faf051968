import { general } from "./i18n/general";
import { language, locale } from "./i18n/language";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const fractionDigitOptions = (digits: number) => ({ minimumFractionDigits: digits, maximumFractionDigits: digits });
const seconds = new Intl.NumberFormat(language, fractionDigitOptions(2));
const dollars = { style: "currency", currency: "USD" } as const;
const cents = new Intl.NumberFormat(language, { ...dollars, ...fractionDigitOptions(2) });
const fractions = new Intl.NumberFormat(language, { ...dollars, ...fractionDigitOptions(4) });

// Formats are made once: making one costs more than a row of a list that uses it.
const weekday = new Intl.DateTimeFormat(locale, { weekday: "short" });
const dayOfYear = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const monthOfYear = new Intl.DateTimeFormat(locale, { year: "numeric", month: "short" });

/** A time in as few words as it needs: "22 min", "5 h", "Fri", "12 Nov". */
export function formatTimeSince(at: string, now = Date.now()): string {
  const past = now - Date.parse(at);
  if (past < MINUTE) return general("now");
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h`;
  const format = past < 6 * DAY ? weekday : past < 300 * DAY ? dayOfYear : monthOfYear;
  return format.format(new Date(at));
}

const CLOCK: Intl.DateTimeFormatOptions = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };

/** A moment of the past within a sentence: "just now", "22 min ago", "Fri". */
export function formatTimeAgo(at: string, now = Date.now()): string {
  const past = now - Date.parse(at);
  if (past < MINUTE) return general("justNow");
  return past < DAY ? general("ago", { time: formatTimeSince(at, now) }) : formatTimeSince(at, now);
}

/** A moment that somebody waits for, as a day and a time: "18 Nov, 09:30". */
export const formatTimeOfDay = (at: string) => new Date(at).toLocaleString(locale, CLOCK);

const hourOfDay = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });

/** The day and the time of a moment, for a sentence that has a word between them. */
export const formatDayAndTime = (at: string) => ({
  day: dayOfYear.format(new Date(at)),
  time: hourOfDay.format(new Date(at)),
});

/** A day with its year: "18 Nov 2026". */
export const formatDay = (at: string) => new Date(at).toLocaleDateString(locale, { dateStyle: "medium" });

const UTC_MOMENT = /\b(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?: UTC|Z)(?![\w-])/g;

/** A sentence of the server, which names moments in UTC, with the times of this place. */
export const localizeTimes = (text: string) =>
  text.replace(UTC_MOMENT, (_, date: string, time: string) => formatTimeOfDay(`${date}T${time}Z`));

export const formatExactTime = (at: string) => new Date(at).toLocaleString(locale);

/** A length of time: "<1 ms", "48 ms", "1.24 s", "3 min 20 s", "5 h 2 min". */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${seconds.format(ms / 1000)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${Math.round((ms % MINUTE) / 1000)} s`;
  return `${Math.floor(ms / HOUR)} h ${Math.round((ms % HOUR) / MINUTE)} min`;
}

/** A number with its fraction as the language writes it: "0.7", "0,75". */
export const formatDecimal = (value: number, least: number, most = least) =>
  value.toLocaleString(locale, { minimumFractionDigits: least, maximumFractionDigits: most });

/** The time that is left until a moment: "40 s", "38 min", "5 h", "2 d"; "over" once it has passed. */
export function formatTimeLeft(at: string, now = Date.now()): string {
  const rest = Date.parse(at) - now;
  if (rest <= 0) return general("over");
  if (rest < MINUTE) return `${Math.ceil(rest / 1000)} s`;
  if (rest < HOUR) return `${Math.floor(rest / MINUTE)} min`;
  return rest < 2 * DAY ? `${Math.floor(rest / HOUR)} h` : `${Math.round(rest / DAY)} d`;
}

/** Where the language writes the sign of dollars, for a field in which an amount is entered. */
export const moneySign: { prefix?: string; suffix?: string } =
  cents.formatToParts(1)[0]?.type === "currency" ? { prefix: "$" } : { suffix: " $" };

/** Money to the cent above a cent, else four places. */
export const formatMoney = (usd: number) => (usd >= 0.01 || usd === 0 ? cents : fractions).format(usd);
