import { useQuery } from "@tanstack/react-query";
import { asApiError } from "../../api/errors";
import type { components } from "../../api/schema";

/** Fields of a draft that were changed. */
export type Edits = Partial<components["schemas"]["Snapshot"]>;
/** Edits that the server does not have yet, with the draft that they were made on and the version under that. */
export type UnsavedDraft = { edits: Edits; etag: string; basedOn?: number };

const keyOf = (agentId: string) => `retinue.draft.${agentId}`;

export function readUnsaved(agentId: string): UnsavedDraft | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(keyOf(agentId)) ?? "null") as UnsavedDraft | null;
    return found && Object.keys(found.edits).length ? found : undefined;
  } catch {
    return undefined;
  }
}

export function keepUnsaved(agentId: string, unsaved: UnsavedDraft) {
  try {
    if (Object.keys(unsaved.edits).length) localStorage.setItem(keyOf(agentId), JSON.stringify(unsaved));
    else localStorage.removeItem(keyOf(agentId));
  } catch {
    // A full or forbidden store only costs what a crash of this tab would lose.
  }
}

/** What is still unsaved once `sent` has arrived: fields that changed again meanwhile. */
export const withoutSent = (edits: Edits, sent: Edits): Edits =>
  Object.fromEntries(Object.entries(edits).filter(([field, value]) => sent[field as keyof Edits] !== value));

const LOOK_MS = 1000;
/** By agent: the save that is under way, and why the last one failed. */
const saves = new Map<string, Promise<unknown>>();
const reasons = new Map<string, string>();

/** Note a save, so that screens other than Build can wait for it. */
export function noteSave(agentId: string, save: Promise<unknown>) {
  const end = (reason?: string) => {
    if (saves.get(agentId) === save) saves.delete(agentId);
    if (reason) reasons.set(agentId, reason);
    else reasons.delete(agentId);
  };
  saves.set(agentId, save);
  void save.then(
    () => end(),
    (error) => end(asApiError(error).message),
  );
}

export type DraftSave = { state: "waiting" | "saved" | "unsaved"; reason: string };

/** Whether the server has all that was typed, once a save that is under way has ended. */
export async function checkSaved(agentId: string): Promise<DraftSave> {
  await saves.get(agentId)?.catch(() => undefined);
  return { state: readUnsaved(agentId) ? "unsaved" : "saved", reason: reasons.get(agentId) ?? "" };
}

/** The same for a screen; another tab may be typing, so it is looked at again and again. */
export function useDraftSave(agentId: string): DraftSave {
  const { data } = useQuery({
    queryKey: ["unsaved", agentId],
    queryFn: () => checkSaved(agentId),
    // Nothing of it is asked of the server.
    networkMode: "always",
    refetchInterval: LOOK_MS,
    refetchIntervalInBackground: true,
    staleTime: 0,
    gcTime: 0,
  });
  return data ?? { state: "waiting", reason: "" };
}
