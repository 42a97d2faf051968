import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { isServerGone, subscribeToServer } from "../../../api/connection";
import { ApiError, asApiError } from "../../../api/errors";
import { type Edits, keepUnsaved, noteSave, readUnsaved, without } from "../../../shared/agent/unsaved";
import { discardDraft, type Snapshot, saveDraft, type TaggedDraft, taggedDraftQuery } from "./draft";

const SAVE_WAIT_MS = 2000;
export type DraftSaveState = "saved" | "changed" | "saving" | "failed" | "conflict";
const isConflict = (error: unknown) => error instanceof ApiError && error.status === 412;

/** The draft of an agent with what was typed since; it saves itself two seconds after the last change. */
export function useDraft(agentId: string) {
  const client = useQueryClient();
  const query = useQuery(taggedDraftQuery(agentId));
  const kept = useRef(readUnsaved(agentId));
  const [edits, setEdits] = useState<Edits>(kept.current?.edits ?? {});
  const [state, setState] = useState<DraftSaveState>(kept.current ? "changed" : "saved");
  const [error, setError] = useState<ApiError>();
  /** Why something that was typed is not among the edits, and how often such text was thrown away. */
  const [problem, setProblem] = useState<string>();
  const [revision, setRevision] = useState(0);
  const { etag: keptTag = "", basedOn: keptBase } = kept.current ?? {};
  const now = useRef({ edits, etag: keptTag, basedOn: keptBase, conflict: undefined as unknown });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const running = useRef<Promise<void>>(undefined);
  const conflictNote = useRef<HTMLDivElement>(null);

  const remember = useCallback(
    (next: Edits) => {
      now.current.edits = next;
      setEdits(next);
      keepUnsaved(agentId, { edits: next, etag: now.current.etag, basedOn: now.current.basedOn });
    },
    [agentId],
  );
  const take = useCallback(
    (draft: TaggedDraft) => {
      now.current.etag = draft.etag;
      now.current.basedOn = draft.based_on;
      client.setQueryData(taggedDraftQuery(agentId).queryKey, draft);
      // Versions and Compare read the draft too, without its tag.
      void client.invalidateQueries({ queryKey: ["agents", agentId, "draft"], exact: true });
    },
    [client, agentId],
  );

  const put = useCallback(async () => {
    const sent = now.current.edits;
    if (!Object.keys(sent).length) return;
    setState("saving");
    try {
      take(await saveDraft(agentId, sent, now.current.etag));
      remember(without(now.current.edits, sent));
      setError(undefined);
      setState(Object.keys(now.current.edits).length ? "changed" : "saved");
    } catch (caught) {
      now.current.conflict = isConflict(caught) ? caught : undefined;
      setError(asApiError(caught));
      setState(now.current.conflict ? "conflict" : "failed");
      throw caught;
    }
  }, [agentId, remember, take]);

  /** Save at once, after a save that is under way; rejects if the server does not take it. */
  const save = useCallback(async () => {
    clearTimeout(timer.current);
    await running.current?.catch(() => undefined);
    // After a conflict the person decides; a save would only be refused again.
    if (now.current.conflict) throw now.current.conflict;
    running.current = put();
    noteSave(agentId, running.current);
    await running.current;
  }, [agentId, put]);

  const later = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void save().catch(() => undefined), SAVE_WAIT_MS);
  }, [save]);

  const change = useCallback(
    (next: Edits) => {
      remember({ ...now.current.edits, ...next });
      if (now.current.conflict) return;
      setState("changed");
      later();
    },
    [remember, later],
  );

  // The first draft that arrives is what later edits are based on; kept edits have their own base.
  const { etag, based_on: basedOn } = query.data ?? {};
  useEffect(() => {
    if (!etag) return;
    if (!now.current.etag || !Object.keys(now.current.edits).length) {
      now.current.etag = etag;
      now.current.basedOn = basedOn;
    } else if (kept.current) later();
    kept.current = undefined;
  }, [etag, basedOn, later]);

  // Save at once when the page is left, when it comes back online and when its server is back.
  useEffect(() => {
    const flush = () => void save().catch(() => undefined);
    window.addEventListener("online", flush);
    const forget = subscribeToServer(() => isServerGone() || flush());
    return () => {
      window.removeEventListener("online", flush);
      forget();
      if (timer.current) flush();
    };
  }, [save]);

  const loadTheirs = async () => {
    clearTimeout(timer.current);
    take(await client.fetchQuery(taggedDraftQuery(agentId)));
    now.current.conflict = undefined;
    remember({});
    setProblem(undefined);
    setRevision((count) => count + 1);
    setState("saved");
  };
  const keepMine = async () => {
    take(await client.fetchQuery(taggedDraftQuery(agentId)));
    now.current.conflict = undefined;
    await save();
  };
  const discard = async () => {
    clearTimeout(timer.current);
    await running.current?.catch(() => undefined);
    await discardDraft(agentId);
    await loadTheirs();
  };

  const stored = query.data;
  const snapshot: Snapshot | undefined = stored && { ...stored.snapshot, ...edits };
  return {
    query,
    stored,
    snapshot,
    state,
    error,
    problem,
    revision,
    change,
    setProblem,
    save,
    loadTheirs,
    keepMine,
    discard,
    conflictNote,
    /** The version that the edits were made on. */
    basedOn: now.current.basedOn,
  };
}
export type DraftEditing = ReturnType<typeof useDraft>;
