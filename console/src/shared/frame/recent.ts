/** The last addresses of a person, kept in this browser: no server has to know where somebody was. */
export type Place = { to: string; title: string; at: string };

const MAX_PLACES = 8;
const storageKeyOf = (userId: string) => `retinue.recent.${userId}`;

export function readRecentPlaces(userId: string): Place[] {
  try {
    const kept = JSON.parse(localStorage.getItem(storageKeyOf(userId)) ?? "[]") as Place[];
    return kept.filter((place) => typeof place.to === "string" && typeof place.title === "string");
  } catch {
    return [];
  }
}

/** What an address is about: all tabs of an agent are about the agent. */
const objectAddressOf = (to: string) => to.split("/").slice(0, 3).join("/");

/** Forget an address that was refused: nothing to come back to. */
export function dropRecentPlace(userId: string, to: string): void {
  const kept = readRecentPlaces(userId);
  const others = kept.filter((place) => place.to !== to);
  if (others.length < kept.length) localStorage.setItem(storageKeyOf(userId), JSON.stringify(others));
}

/** Put an address first. Filters belong to it no more than a fragment: one object is one place, at its last tab. */
export function keepRecentPlace(userId: string, to: string, title: string): void {
  if (to === "/" || !title) return;
  const others = readRecentPlaces(userId).filter((place) => objectAddressOf(place.to) !== objectAddressOf(to));
  const places = [{ to, title, at: new Date().toISOString() }, ...others].slice(0, MAX_PLACES);
  localStorage.setItem(storageKeyOf(userId), JSON.stringify(places));
}
