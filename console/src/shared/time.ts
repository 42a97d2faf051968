const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time in as few words as it needs: "22 min", "5 h", "Fri", "12 Nov". */
export function ago(at: string, now = Date.now()): string {
  const past = now - Date.parse(at);
  if (past < MINUTE) return "now";
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h`;
  const format: Intl.DateTimeFormatOptions =
    past < 6 * DAY
      ? { weekday: "short" }
      : past < 300 * DAY
        ? { day: "numeric", month: "short" }
        : { year: "numeric", month: "short" };
  return new Intl.DateTimeFormat("en-GB", format).format(new Date(at));
}

export const exact = (at: string) => new Date(at).toLocaleString();

export const duration = (ms: number) => (ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${Math.round(ms)} ms`);

/** Money to the cent above a cent, else four places. */
export const money = (usd: number) => `$${usd >= 0.01 || usd === 0 ? usd.toFixed(2) : usd.toFixed(4)}`;
