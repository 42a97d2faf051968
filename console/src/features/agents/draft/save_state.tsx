import TriangleAlert from "icon:triangle-alert";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { meQuery, useMay } from "../../../api/queries";
import { words } from "../../../shared/i18n/words";
import { ago, exact } from "../../../shared/time";
import { personQuery } from "../queries";
import en from "../words.en.json";
import style from "./draft.module.css";
import type { DraftEditing } from "./use_draft";

const say = words(en, "features/agents");

/** One word about where the edits are; where there is no room for the reason, the field or a note has it. */
export function SaveState({ editing }: { editing: DraftEditing }) {
  const { state, error, stored, problem } = editing;
  const saved = stored?.is_stored && stored.updated_at ? exact(stored.updated_at) : undefined;
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
export function SaveTrouble({ editing }: { editing: DraftEditing }) {
  const { state, error, save, loadTheirs, keepMine, conflictNote } = editing;
  if (state === "failed")
    return (
      <div className={`note bad ${style.trouble}`} role="alert">
        <TriangleAlert size={15} />
        <span className="grow">{say("notSavedKept", { reason: error?.message ?? "" })}</span>
        <Button size="xs" variant="default" onClick={() => void save().catch(() => undefined)}>
          {say("tryAgain")}
        </Button>
      </div>
    );
  if (state !== "conflict") return null;
  return (
    <div className={`note warn ${style.trouble}`} role="alert" ref={conflictNote} tabIndex={-1}>
      <TriangleAlert size={15} />
      <span className="grow">
        <ConflictWords by={String(error?.details.updated_by ?? "")} at={String(error?.details.updated_at ?? "")} />
      </span>
      <Button size="xs" variant="default" onClick={() => void loadTheirs().catch(() => undefined)}>
        {say("loadTheirs")}
      </Button>
      <Button size="xs" variant="default" onClick={() => void keepMine().catch(() => undefined)}>
        {say("keepMine")}
      </Button>
    </div>
  );
}

/** Who changed the draft, as far as this person may know. */
function ConflictWords({ by, at }: { by: string; at: string }) {
  const may = useMay();
  const { data: me } = useQuery(meQuery);
  const isMe = me?.id === by;
  const { data: person } = useQuery({ ...personQuery(by), enabled: Boolean(me && by) && !isMe && may("admin:users") });
  const when = at && ago(at);
  if (isMe && when) return say("conflictSelf", { when });
  const who = person && (`${person.first_name} ${person.last_name}`.trim() || person.email);
  return who && when ? say("conflictBy", { who, when }) : say("conflict");
}
