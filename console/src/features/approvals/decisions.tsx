import { useQuery } from "@tanstack/react-query";
import { type Approval, approvalQuery, approvalsQuery } from "../../shared/approvals/queries";
import { findRequestedCall, listApprovalFields } from "../../shared/approvals/values";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { formatDayAndTime, formatExactTime, formatTimeSince } from "../../shared/time";
import { describeApprovalStatus, STATUS_TONES, usePrincipalName } from "./people";
import en from "./words.en.json";

const say = createTranslator(en, "features/approvals");
const MAX_BEFORE = 3;

/** Too few people are left who can approve: they were deactivated, or it is their own request. */
export function NobodyLeftNote({ approval }: { approval: Approval }) {
  const { data } = useQuery({ ...approvalQuery(approval.id), enabled: approval.status === "pending" });
  const left = data?.deciders_left;
  if (left === undefined || left + approval.approvals_received >= approval.required_approvals) return null;
  return <div className="note bad">{say("nobodyLeft", formatDayAndTime(approval.expires_at))}</div>;
}

/** Who has decided, and how. */
export function DecisionList({ approval }: { approval: Approval }) {
  if (!approval.responses.length) return null;
  return (
    <section className="stack g8" aria-label={say("decisions")}>
      <h3 className="t-sec">{say("decisions")}</h3>
      <ol className="thread">
        {approval.responses.map((response) => (
          <DecisionEntry key={response.user_id} approval={approval} response={response} />
        ))}
      </ol>
    </section>
  );
}

function DecisionEntry({ approval, response }: { approval: Approval; response: Approval["responses"][number] }) {
  const who = usePrincipalName(approval, { type: "user", id: response.user_id });
  return (
    <li>
      <i className={`knot ${response.decision === "approved" ? "ok" : "bad"}`} />
      <span className="row g8">
        <b className="t-500">{who}</b>
        <StatusPill tone={STATUS_TONES[response.decision]}>
          {describeApprovalStatus(response.decision as Approval["status"])}
        </StatusPill>
        <span className="t-12 t-3" title={formatExactTime(response.created_at)}>
          {formatTimeSince(response.created_at)}
        </span>
      </span>
      {response.comment && <p className="t-13 t-2">{response.comment}</p>}
    </li>
  );
}

/** How earlier calls of the same tool, or of the same step, were decided. */
export function EarlierDecisions({ approval }: { approval: Approval }) {
  const decided = useQuery(approvalsQuery("decided"));
  const { tool_id: toolId, workflow_id: workflowId, node_id: nodeId } = approval.source;
  const same = (decided.data ?? []).filter(
    ({ id, source }) =>
      id !== approval.id &&
      (toolId ? source.tool_id === toolId : source.workflow_id === workflowId && source.node_id === nodeId),
  );
  if (!same.length) return null;
  return (
    <section className="stack g8" aria-label={say("before")}>
      <h3 className="t-sec">{say("before")}</h3>
      <ul className="t-13 stack g6">
        {same.slice(0, MAX_BEFORE).map((one) => (
          <li key={one.id} className="row g8">
            <StatusPill tone={STATUS_TONES[one.status]}>{describeApprovalStatus(one.status)}</StatusPill>
            {findRequestedCall(one) && <code className="mono cut">{findRequestedCall(one)?.name}</code>}
            <span className="t-2 cut">
              {listApprovalFields(one)
                .slice(0, 3)
                .map((field) => `${field.name} ${String(field.value)}`)
                .join(", ") || one.title}
            </span>
            <span className="t-3 t-12 fix">{formatTimeSince(one.resolved_at ?? one.created_at)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
