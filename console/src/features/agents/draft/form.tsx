import Lock from "icon:lock";
import { useQuery } from "@tanstack/react-query";
import { memo, startTransition, useEffect, useRef, useState } from "react";
import { useMay } from "../../../api/queries";
import { agentQuery } from "../../../shared/agent/queries";
import { words } from "../../../shared/i18n/words";
import { useNeeds } from "../../../shared/states/access";
import en from "../words.en.json";
import { AboutSection } from "./about";
import type { Snapshot } from "./draft";
import { Instructions } from "./instructions";
import { KnowledgeSection } from "./knowledge";
import { LimitSection } from "./limits";
import { ModelSection } from "./model";
import { OutputSection } from "./output_schema";
import { SubAgentSection } from "./sub_agents";
import { ToolSection } from "./tools";
import type { DraftEditing } from "./use_draft";

const say = words(en, "features/agents");
const Model = memo(ModelSection);
const Tools = memo(ToolSection);
const Knowledge = memo(KnowledgeSection);
const SubAgents = memo(SubAgentSection);
const About = memo(AboutSection);
const Output = memo(OutputSection);
const Limits = memo(LimitSection);
const SECTIONS = 7;
type Props = { agentId: string; editing: DraftEditing; live?: Snapshot; version?: number };

/** The same object until something besides the instructions changes: a key typed there concerns no other section. */
function useRest(draft?: Snapshot): Snapshot | undefined {
  const kept = useRef(draft);
  const names = Object.keys({ ...kept.current, ...draft }) as (keyof Snapshot)[];
  if (names.some((name) => name !== "system_prompt" && kept.current?.[name] !== draft?.[name])) kept.current = draft;
  return kept.current;
}

/** How many of the sections are drawn: one after the other, so that none of them keeps a click waiting. */
function useDrawn(count: number): number {
  const [drawn, setDrawn] = useState(0);
  useEffect(() => {
    if (drawn < count) startTransition(() => setDrawn(drawn + 1));
  }, [drawn, count]);
  return drawn;
}

/** The draft from top to bottom. Without the permission it can be read, and says what is missing. */
export function DraftForm({ agentId, editing, live, version }: Props) {
  const may = useMay();
  const needs = useNeeds("agents:write");
  const { data: agent } = useQuery(agentQuery(agentId));
  const { snapshot: draft, change, setProblem, revision } = editing;
  const rest = useRest(draft);
  const drawn = useDrawn(SECTIONS);
  if (!draft || !rest || !agent) return null;
  const isReadOnly = !may("agents:write");
  const parts = { draft: rest, isReadOnly, onChange: change };
  const sections = [
    <Model key="model" {...parts} />,
    <Tools key="tools" {...parts} />,
    <Knowledge key="knowledge" agentId={agentId} knowledge={agent.knowledge_base} {...parts} />,
    <SubAgents key="sub-agents" agentId={agentId} {...parts} />,
    <About key="about" {...parts} />,
    <Output key={`output-${revision}`} onProblem={setProblem} {...parts} />,
    <Limits key="limits" {...parts} />,
  ];
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
      <Instructions
        value={draft.system_prompt}
        published={live?.system_prompt}
        version={version}
        isReadOnly={isReadOnly}
        onChange={(text) => change({ system_prompt: text })}
      />
      {sections.slice(0, drawn)}
    </>
  );
}
