import { useQuery } from "@tanstack/react-query";
import { asApiError } from "../../api/errors";
import type { components } from "../../api/schema";

/** Fields of a draft that were changed. */
export type Edits = Partial<components["schemas"]["Snapshot"]>;
/** Edits that the server does not have yet, with the draft that they were made on and the version under that. */
export type UnsavedDraft = { edits: Edits; etag: string; basedOn?: number };

const storageKeyOf = (agentId: string) => `retinue.draft.${agentId}`;

export function readUnsavedDraft(agentId: string): UnsavedDraft | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(storageKeyOf(agentId)) ?? "null") as UnsavedDraft | null;
    return found && Object.keys(found.edits).length ? found : undefined;
  } catch {
    return undefined;
  }
}

export function keepUnsavedDraft(agentId: string, unsaved: UnsavedDraft) {
  try {
    if (Object.keys(unsaved.edits).length) localStorage.setItem(storageKeyOf(agentId), JSON.stringify(unsaved));
    else localStorage.removeItem(storageKeyOf(agentId));
  } catch {
    // A full or forbidden store only costs what a crash of this tab would lose.
  }
}

const LOOK_MS = 1000;
/** By agent: the save that is under way, and why the last one failed. */
const saves = new Map<string, Promise<unknown>>();
const reasons = new Map<string, string>();

/** Note a save, so that screens other than Build can wait for it. */
export function trackDraftSave(agentId: string, save: Promise<unknown>) {
  const endSave = (reason?: string) => {
    if (saves.get(agentId) === save) saves.delete(agentId);
    if (reason) reasons.set(agentId, reason);
    else reasons.delete(agentId);
  };
  saves.set(agentId, save);
  void save.then(
    () => endSave(),
    (error) => endSave(asApiError(error).message),
  );
}

export type DraftSave = { state: "waiting" | "saved" | "unsaved"; reason: string };

/** Whether the server has all that was typed, once a save that is under way has ended. */
export async function checkDraftSaved(agentId: string): Promise<DraftSave> {
  await saves.get(agentId)?.catch(() => undefined);
  return { state: readUnsavedDraft(agentId) ? "unsaved" : "saved", reason: reasons.get(agentId) ?? "" };
}

/** The same for a screen; another tab may be typing, so it is looked at again and again. */
export function useDraftSave(agentId: string): DraftSave {
  const { data } = useQuery({
    queryKey: ["unsaved", agentId],
    queryFn: () => checkDraftSaved(agentId),
    // Nothing of it is asked of the server.
    networkMode: "always",
    refetchInterval: LOOK_MS,
    refetchIntervalInBackground: true,
    staleTime: 0,
    gcTime: 0,
  });
  return data ?? { state: "waiting", reason: "" };
}
