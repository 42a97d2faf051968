import type { LoggedEvent } from "./queries";

export type Branch = { event: LoggedEvent; depth: number; afterMs: number };
const MOST_DEPTH = 6;

function listTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value && typeof value === "object" ? Object.values(value).flatMap(listTexts) : [];
}

/**
 * What followed from what, of events with one correlation id, oldest first: an event that names the object of an
 * earlier one follows from it, and events of one object stand side by side.
 */
export function growEventTree(events: readonly LoggedEvent[]): Branch[] {
  const depths = new Map<string, number>();
  const start = Date.parse(events[0]?.created_at ?? "");
  return events.map((event, place) => {
    const { id } = event.source;
    const causes = listTexts(event.data).flatMap((text) => (text === id ? [] : (depths.get(text) ?? [])));
    const own = id ? depths.get(id) : undefined;
    const depth = place === 0 ? 0 : Math.min(MOST_DEPTH, own ?? (causes.length ? Math.max(...causes) + 1 : 1));
    if (id && own === undefined) depths.set(id, depth);
    return { event, depth, afterMs: Date.parse(event.created_at) - start };
  });
}
