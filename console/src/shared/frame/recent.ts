/** The last addresses of a person, kept in this browser: no server has to know where somebody was. */
export type Place = { to: string; title: string; at: string };

const MAX_PLACES = 8;
const keyOf = (userId: string) => `retinue.recent.${userId}`;

export function readRecent(userId: string): Place[] {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(userId)) ?? "[]") as Place[];
    return kept.filter((place) => typeof place.to === "string" && typeof place.title === "string");
  } catch {
    return [];
  }
}

/** What an address is about: all tabs of an agent are about the agent. */
const objectAddress = (to: string) => to.split("/").slice(0, 3).join("/");

/** Forget an address that was refused: nothing to come back to. */
export function dropRecent(userId: string, to: string): void {
  const kept = readRecent(userId);
  const others = kept.filter((place) => place.to !== to);
  if (others.length < kept.length) localStorage.setItem(keyOf(userId), JSON.stringify(others));
}

/** Put an address first. Filters belong to it no more than a fragment: one object is one place, at its last tab. */
export function keepRecent(userId: string, to: string, title: string): void {
  if (to === "/" || !title) return;
  const others = readRecent(userId).filter((place) => objectAddress(place.to) !== objectAddress(to));
  const places = [{ to, title, at: new Date().toISOString() }, ...others].slice(0, MAX_PLACES);
  localStorage.setItem(keyOf(userId), JSON.stringify(places));
}
