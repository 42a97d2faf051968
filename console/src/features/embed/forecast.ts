const DAY_MS = 24 * 3600 * 1000;

/** When the tokens of a month are used up if it goes on like this; undefined if they last until its end. */
export function forecastMonthEnd(used: number, budget: number, now: Date): Date | undefined {
  const begun = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const ends = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  if (used >= budget) return now;
  // The first day of a month says nothing about its days.
  const passed = Math.max(now.getTime() - begun, DAY_MS);
  const at = now.getTime() + ((budget - used) / used) * passed;
  return used > 0 && at < ends ? new Date(at) : undefined;
}
