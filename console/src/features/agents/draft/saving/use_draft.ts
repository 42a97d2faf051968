import { type QueryClient, QueryObserver, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState, useSyncExternalStore } from "react";
import { isServerGone, subscribeToServer } from "../../../../api/connection";
import { keepUnsavedDraft, readUnsavedDraft, trackDraftSave } from "../../../../shared/agent/unsaved";
import { scheduleTimeout } from "../../../../shared/schedule";
import { discardDraft, type Snapshot, saveDraft, type TaggedDraft, taggedDraftQuery } from "../draft";
import { DraftSaver } from "../draft_saver";

/** The draft of an agent with what was typed since. For another agent the caller needs another key. */
export function useAgentDraft(agentId: string) {
  const client = useQueryClient();
  const [saver] = useState(() => createDraftSaver(agentId, client));
  const typed = useSyncExternalStore(saver.subscribe, saver.getSnapshot);
  const query = useQuery(taggedDraftQuery(agentId));
  const stored = query.data;
  const snapshot: Snapshot | undefined = stored && { ...stored.snapshot, ...typed.edits };
  const conflictNote = useRef<HTMLDivElement>(null);
  return { ...typed, saver, query, stored, snapshot, conflictNote };
}
export type DraftEditing = ReturnType<typeof useAgentDraft>;

function createDraftSaver(agentId: string, client: QueryClient): DraftSaver {
  const query = taggedDraftQuery(agentId);
  return new DraftSaver({
    load: () => client.fetchQuery(query),
    save: (edits, etag) => saveDraft(agentId, edits, etag),
    discard: () => discardDraft(agentId),
    cache: (draft) => {
      client.setQueryData(query.queryKey, draft);
      // Versions and Compare read the draft too, without its tag.
      void client.invalidateQueries({ queryKey: ["agents", agentId, "draft"], exact: true });
    },
    watch: (onDraft) => watchDraft(client, agentId, onDraft),
    watchConnection,
    readUnsaved: () => readUnsavedDraft(agentId),
    keepUnsaved: (unsaved) => keepUnsavedDraft(agentId, unsaved),
    noteSave: (save) => trackDraftSave(agentId, save),
    schedule: scheduleTimeout,
  });
}

function watchDraft(client: QueryClient, agentId: string, onDraft: (draft: TaggedDraft) => void) {
  // The component asks for the draft; this only listens.
  const observer = new QueryObserver(client, { ...taggedDraftQuery(agentId), enabled: false });
  const replaceServed = ({ data }: { data?: TaggedDraft }) => data && onDraft(data);
  replaceServed(observer.getCurrentResult());
  return observer.subscribe(replaceServed);
}

function watchConnection(onBack: () => void) {
  window.addEventListener("online", onBack);
  const stopWatching = subscribeToServer(() => isServerGone() || onBack());
  return () => {
    window.removeEventListener("online", onBack);
    stopWatching();
  };
}
