import type { Edits } from "./draft";

/** Edits that the server does not have yet, with the draft that they were made on. */
export type Unsaved = { edits: Edits; etag: string };

const keyOf = (agentId: string) => `retinue.draft.${agentId}`;

export function readUnsaved(agentId: string): Unsaved | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(keyOf(agentId)) ?? "null") as Unsaved | null;
    return found && Object.keys(found.edits).length ? found : undefined;
  } catch {
    return undefined;
  }
}

export function keepUnsaved(agentId: string, unsaved: Unsaved) {
  try {
    if (Object.keys(unsaved.edits).length) localStorage.setItem(keyOf(agentId), JSON.stringify(unsaved));
    else localStorage.removeItem(keyOf(agentId));
  } catch {
    // A full or forbidden store only costs what a crash of this tab would lose.
  }
}

/** What is still unsaved once `sent` has arrived: fields that changed again meanwhile. */
export const without = (edits: Edits, sent: Edits): Edits =>
  Object.fromEntries(Object.entries(edits).filter(([field, value]) => sent[field as keyof Edits] !== value));
