import Lock from "icon:lock";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useRef } from "react";
import { usePermissionCheck } from "../../../api/queries";
import { agentQuery } from "../../../shared/agent/queries";
import { createTranslator } from "../../../shared/i18n/words";
import { useMissingAccessHint } from "../../../shared/states/access";
import { RowSkeletons } from "../../../shared/states/states";
import en from "../words.en.json";
import type { Snapshot } from "./draft";
import { InstructionsSection } from "./instructions/instructions";
import type { DraftEditing } from "./saving/use_draft";

const say = createTranslator(en, "features/agents");
/** Fetched beside the screen: the instructions, which come first, do not wait for what the rest is made of. */
const Sections = lazy(() => import("./sections"));
type Props = { agentId: string; editing: DraftEditing; live?: Snapshot; version?: number };

/** The same object until something besides the instructions changes: a key typed there concerns no other section. */
function useAllButInstructions(draft?: Snapshot): Snapshot | undefined {
  const kept = useRef(draft);
  const names = Object.keys({ ...kept.current, ...draft }) as (keyof Snapshot)[];
  if (names.some((name) => name !== "system_prompt" && kept.current?.[name] !== draft?.[name])) kept.current = draft;
  return kept.current;
}

/** The draft from top to bottom. Without the permission it can be read, and says what is missing. */
export function DraftForm({ agentId, editing, live, version }: Props) {
  const may = usePermissionCheck();
  const needs = useMissingAccessHint("agents:write");
  const { data: agent } = useQuery(agentQuery(agentId));
  const { snapshot: draft, saver } = editing;
  const rest = useAllButInstructions(draft);
  if (!draft || !rest || !agent) return null;
  const isReadOnly = !may("agents:write");
  return (
    <>
      {isReadOnly && (
        <div className="note">
          <Lock size={15} />
          <span>
            {say(may("agents:chat") ? "readOnly" : "readOnlyAll")} {needs}
          </span>
        </div>
      )}
      <InstructionsSection
        value={draft.system_prompt}
        published={live?.system_prompt}
        version={version}
        isReadOnly={isReadOnly}
        onChange={(text) => saver.edit({ system_prompt: text })}
      />
      <Suspense fallback={<RowSkeletons columns={[30, 300]} />}>
        <Sections agent={agent} editing={editing} draft={rest} isReadOnly={isReadOnly} />
      </Suspense>
    </>
  );
}
