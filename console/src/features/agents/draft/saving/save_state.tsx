import TriangleAlert from "icon:triangle-alert";
import { Button } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { meQuery } from "../../../../api/queries";
import { createTranslator } from "../../../../shared/i18n/words";
import { useKnownName, usePersonName } from "../../../../shared/people/names";
import { formatExactTime, formatTimeSince } from "../../../../shared/time";
import { versionsQuery } from "../../../../shared/versions/queries";
import en from "../../words.en.json";
import style from "./save_state.module.css";
import type { DraftEditing } from "./use_draft";

const say = createTranslator(en, "features/agents");

/** One word about where the edits are; where there is no room for the reason, the field or a note has it. */
export function SaveStateLabel({ editing }: { editing: DraftEditing }) {
  const { state, error, stored, problem } = editing;
  const saved = stored?.is_stored && stored.updated_at ? formatExactTime(stored.updated_at) : undefined;
  const unsaved =
    state === "failed"
      ? say("notSaved", { reason: error?.message ?? "" })
      : state === "conflict"
        ? say("notSavedConflict")
        : state === "saved" && problem
          ? say("schemaNotSaved")
          : "";
  return (
    <span
      className={`t-12 t-3 ${style.saveState}`}
      role="status"
      title={state === "saved" ? (problem ?? saved) : undefined}
      data-quiet={!unsaved || undefined}
    >
      {unsaved && (
        <>
          <span className={style.pillLong}>{unsaved}</span>
          <span className={style.pillShort}>{say("notSavedShort")}</span>
        </>
      )}
      {state === "saved" && !problem && stored?.is_stored && say("saved")}
      {(state === "saving" || state === "changed") && say("saving")}
    </span>
  );
}

/** What stands between the person and a saved draft, with the ways on; in sight wherever one has scrolled to. */
export function SaveTroubleNote({ agentId, editing }: { agentId: string; editing: DraftEditing }) {
  const { state, error, saver } = editing;
  if (state === "failed")
    return (
      <div className={`note bad ${style.trouble}`} role="alert">
        <TriangleAlert size={15} />
        <span className="grow">{say("notSavedKept", { reason: error?.message ?? "" })}</span>
        <Button size="xs" variant="default" onClick={() => void saver.save().catch(() => undefined)}>
          {say("tryAgain")}
        </Button>
      </div>
    );
  return state === "conflict" ? <DraftConflict agentId={agentId} editing={editing} /> : null;
}

/** Who changed the draft meanwhile, and the choice between the two texts. */
function DraftConflict({ agentId, editing }: { agentId: string; editing: DraftEditing }) {
  const { error, basedOn, saver, conflictNote } = editing;
  const by = String(error?.details.updated_by ?? "");
  // A draft that nobody changed is no longer there: it was published, or discarded.
  const { data } = useInfiniteQuery({ ...versionsQuery(agentId), enabled: !by, staleTime: 0 });
  const latest = data?.pages[0]?.data[0];
  const published = !by && latest && basedOn && latest.version > basedOn ? latest : undefined;
  const version = `v${published?.version}`;
  return (
    <div className={`note warn ${style.trouble}`} role="alert" ref={conflictNote} tabIndex={-1}>
      <TriangleAlert size={15} />
      <span className="grow">
        {published ? (
          <PublishedWords by={published.created_by} version={version} />
        ) : (
          <ConflictWords by={by} at={String(error?.details.updated_at ?? "")} />
        )}
      </span>
      <Button size="xs" variant="default" onClick={() => void saver.loadTheirs().catch(() => undefined)}>
        {published ? say("loadVersion", { version }) : say("loadTheirs")}
      </Button>
      <Button size="xs" variant="default" onClick={() => void saver.keepMine().catch(() => undefined)}>
        {say("keepMine")}
      </Button>
    </div>
  );
}

/** Who published the draft, which this person may have done in another window. */
function PublishedWords({ by, version }: { by: string; version: string }) {
  const { data: me } = useQuery(meQuery);
  const who = usePersonName(by);
  return me?.id === by ? say("conflictPublished", { version }) : say("conflictPublishedBy", { who, version });
}

/** Who changed the draft. */
function ConflictWords({ by, at }: { by: string; at: string }) {
  const { data: me } = useQuery(meQuery);
  const who = useKnownName(by);
  const when = at && formatTimeSince(at);
  if (me?.id === by && when) return say("conflictSelf", { when });
  return who && when ? say("conflictBy", { who, when }) : say("conflict");
}
