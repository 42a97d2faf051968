import { lazy, memo, Suspense, startTransition, useEffect, useState } from "react";
import type { components } from "../../../api/schema";
import { KnowledgeSection } from "./abilities/knowledge";
import { SubAgentSection } from "./abilities/sub_agents";
import { ToolSection } from "./abilities/tools";
import { AboutSection } from "./about";
import type { Snapshot } from "./draft";
import { ModelSection } from "./model";
import { OutputSection } from "./output/output_schema";
import type { DraftEditing } from "./saving/use_draft";

const Model = memo(ModelSection);
const Tools = memo(ToolSection);
const Knowledge = memo(KnowledgeSection);
const SubAgents = memo(SubAgentSection);
const About = memo(AboutSection);
const Output = memo(OutputSection);
/** Closed at first, and few people open it. */
const Limits = lazy(() => import("./limits").then((found) => ({ default: memo(found.LimitSection) })));
const SECTIONS = 7;
type Props = {
  agent: components["schemas"]["AgentDetail"];
  editing: DraftEditing;
  draft: Snapshot;
  isReadOnly: boolean;
};

/** How many of the sections are drawn: one after the other, so that none of them keeps a click waiting. */
function useDrawnCount(count: number): number {
  const [drawn, setDrawn] = useState(0);
  useEffect(() => {
    if (drawn < count) startTransition(() => setDrawn(drawn + 1));
  }, [drawn, count]);
  return drawn;
}

/** All of a draft but its instructions. */
export default function DraftSections({ agent, editing, draft, isReadOnly }: Props) {
  const drawn = useDrawnCount(SECTIONS);
  const parts = { draft, isReadOnly, onChange: editing.saver.edit };
  return [
    <Model key="model" {...parts} />,
    <Tools key="tools" {...parts} />,
    <Knowledge key="knowledge" agentId={agent.id} knowledge={agent.knowledge_base} {...parts} />,
    <SubAgents key="sub-agents" agentId={agent.id} {...parts} />,
    <About key="about" {...parts} />,
    <Output key={`output-${editing.revision}`} onProblem={editing.saver.setProblem} {...parts} />,
    <Suspense key="limits" fallback={null}>
      <Limits {...parts} />
    </Suspense>,
  ].slice(0, drawn);
}
