import type { Approval } from "../../shared/approvals/queries";
import { AgentMark } from "../../shared/marks/agent_mark";
import { KindIcon } from "../../shared/marks/kind_icon";

/** The mark of what asks for an approval: an agent or a workflow. */
export const SourceMark = ({ approval, size }: { approval: Approval; size: number }) =>
  approval.source.agent_id ? <AgentMark id={approval.source.agent_id} size={size} /> : <KindIcon kind="flow" />;
