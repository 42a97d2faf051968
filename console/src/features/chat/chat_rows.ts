import { locale } from "../../shared/i18n/language";
import type { Chat } from "./own_chats";

export type ChatDay = { key: string; label: string };
/** A line of the list: the name of a day, or a chat; `top` is where it begins. */
export type ChatLine = { top: number } & ({ day: ChatDay; chat?: undefined } | { day?: undefined; chat: Chat });
export type RowHeights = { day: number; chat: number };
type DayWords = Record<"today" | "yesterday" | "thisWeek" | "lastWeek", string>;

const DAY_MS = 86_400_000;
const month = new Intl.DateTimeFormat(locale, { month: "long" });
const monthOfYear = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" });

/** Midnight of a day in this place, as a number of days: days of 23 and 25 hours count as one. */
const dayNumberOf = (at: Date) => Math.round(Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) / DAY_MS);
/** Weeks begin on Monday; the first day of the epoch was a Thursday. */
const weekNumberOf = (day: number) => Math.floor((day + 3) / 7);

/** The heading under which a moment stands: today, yesterday, a week, then months. */
export function findChatDay(at: string, now: Date, words: DayWords): ChatDay {
  const then = new Date(at);
  const [day, today] = [dayNumberOf(then), dayNumberOf(now)];
  if (day >= today) return { key: "today", label: words.today };
  if (day === today - 1) return { key: "yesterday", label: words.yesterday };
  const weeks = weekNumberOf(today) - weekNumberOf(day);
  if (weeks === 0) return { key: "this-week", label: words.thisWeek };
  if (weeks === 1) return { key: "last-week", label: words.lastWeek };
  const format = then.getFullYear() === now.getFullYear() ? month : monthOfYear;
  return { key: `${then.getFullYear()}-${then.getMonth()}`, label: format.format(then) };
}

/** The lines of a list with a heading before each day, and the height of all of them. */
export function layOutChatRows(chats: readonly Chat[], heights: RowHeights, dayOf: (at: string) => ChatDay) {
  const rows: ChatLine[] = [];
  let top = 0;
  let last = "";
  for (const chat of chats) {
    const day = dayOf(chat.last_message_at);
    if (day.key !== last) {
      rows.push({ top, day });
      top += heights.day;
      last = day.key;
    }
    rows.push({ top, chat });
    top += heights.chat;
  }
  return { rows, height: top };
}

/** The first line that ends below a place, by halving. */
function findRowAt(rows: readonly ChatLine[], place: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle + 1]?.top ?? Number.POSITIVE_INFINITY) <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Lines beside those in sight, so that scrolling and the keyboard find the next one. */
const OVERSCAN = 12;

/** Which lines are drawn: those in sight and some around them. */
export function findShownRows(rows: readonly ChatLine[], scrolled: number, height: number) {
  const from = Math.max(0, findRowAt(rows, scrolled) - OVERSCAN);
  const to = Math.min(rows.length, findRowAt(rows, scrolled + height) + 1 + OVERSCAN);
  return { from, to };
}

export type DrawnDay = { key: string; label?: string; chats: Chat[] };

/** The lines that are drawn, by day; the first may stand without its heading, which is above. */
export function groupDrawnRows(rows: readonly ChatLine[]): DrawnDay[] {
  const days: DrawnDay[] = [];
  for (const { day, chat } of rows) {
    if (day) days.push({ ...day, chats: [] });
    else if (days.length) days.at(-1)?.chats.push(chat);
    else days.push({ key: "above", chats: [chat] });
  }
  return days;
}
