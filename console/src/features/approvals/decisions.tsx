import { useQuery } from "@tanstack/react-query";
import { words } from "../../shared/i18n/words";
import { Pill } from "../../shared/marks/status";
import { exactTime, timeSince } from "../../shared/time";
import { STATUS_TONES, statusWord, useName } from "./people";
import { type Approval, approvalsQuery } from "./queries";
import { callOf, fieldsOf } from "./values";
import en from "./words.en.json";

const say = words(en, "features/approvals");
const MAX_BEFORE = 3;

/** Who has decided, and how. */
export function Decisions({ approval }: { approval: Approval }) {
  if (!approval.responses.length) return null;
  return (
    <section className="stack g8" aria-label={say("decisions")}>
      <h3 className="t-sec">{say("decisions")}</h3>
      <ol className="thread">
        {approval.responses.map((response) => (
          <DecisionOf key={response.user_id} approval={approval} response={response} />
        ))}
      </ol>
    </section>
  );
}

function DecisionOf({ approval, response }: { approval: Approval; response: Approval["responses"][number] }) {
  const who = useName(approval, { type: "user", id: response.user_id });
  return (
    <li>
      <i className={`knot ${response.decision === "approved" ? "ok" : "bad"}`} />
      <span className="row g8">
        <b className="t-500">{who}</b>
        <Pill tone={STATUS_TONES[response.decision]}>{statusWord(response.decision as Approval["status"])}</Pill>
        <span className="t-12 t-3" title={exactTime(response.created_at)}>
          {timeSince(response.created_at)}
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
            <Pill tone={STATUS_TONES[one.status]}>{statusWord(one.status)}</Pill>
            {callOf(one) && <code className="mono cut">{callOf(one)?.name}</code>}
            <span className="t-2 cut">
              {fieldsOf(one)
                .slice(0, 3)
                .map((field) => `${field.name} ${String(field.value)}`)
                .join(", ") || one.title}
            </span>
            <span className="t-3 t-12 fix">{timeSince(one.resolved_at ?? one.created_at)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
