import type { EventData } from "./queries";

/** The object that a text is in JSON; undefined if it is none. An empty text is an empty object. */
export function parseJsonObject(text: string): EventData | undefined {
  if (!text.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? (value as EventData) : undefined;
  } catch {
    return undefined;
  }
}
