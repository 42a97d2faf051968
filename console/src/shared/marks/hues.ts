export const HUES = ["model", "know", "tool", "sub", "flow", "form", "wait"] as const;
/** A hue of the marks; `turn` is the grey of what stands for many. */
export type Hue = (typeof HUES)[number] | "turn";

/** A number that is always the same for an id. */
export function seedOf(id: string): number {
  let seed = 11;
  for (const letter of id) seed = Math.imul(seed ^ letter.charCodeAt(0), 16777619) >>> 0;
  return seed;
}

/** The hue of the mark that an id has everywhere. */
export const hueOf = (id: string): (typeof HUES)[number] => HUES[(seedOf(id) >>> 7) % HUES.length] ?? "model";

/** A hue for each of several ids that stand beside each other: their own, or the next one that nobody before has. */
export function chooseHues(ids: readonly string[]): Map<string, Hue> {
  const chosen = new Map<string, Hue>();
  const free = new Set<Hue>(HUES);
  for (const id of ids) {
    const first = HUES.indexOf(hueOf(id));
    const inOrder = HUES.map((_, i) => HUES[(first + i) % HUES.length] ?? "model");
    const hue = inOrder.find((one) => free.has(one)) ?? "turn";
    free.delete(hue);
    chosen.set(id, hue);
  }
  return chosen;
}
