import Check from "icon:check";
import X from "icon:x";
import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../../api/errors";
import { meQuery, usePermissionCheck } from "../../../api/queries";
import { decidableQuery } from "../../../shared/approvals/decidable";
import { formatFieldLabel } from "../../../shared/approvals/field_label";
import { type Approval, approvalQuery, useApprovalDecision } from "../../../shared/approvals/queries";
import { useRequesterActions } from "../../../shared/approvals/requester_actions";
import { TimeLeft } from "../../../shared/approvals/time_left";
import { findAmount, formatValue, listApprovalFields } from "../../../shared/approvals/values";
import type { ToolCall } from "../../../shared/chat/chat";
import { createTranslator } from "../../../shared/i18n/words";
import { KindIcon } from "../../../shared/marks/kind_icon";
import { useNamesById } from "../../../shared/people/names";
import { roleNameOf } from "../../../shared/people/roles";
import { translateText } from "../../../shared/sentences/sentences";
import { formatExactTime, formatTimeSince } from "../../../shared/time";
import style from "./approval.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");
const MAX_FACTS = 4;

/** The requests that a reply waits for, at the place where they came up. */
export function ThreadApprovals({ calls }: { calls: ToolCall[] }) {
  const may = usePermissionCheck();
  const waiting = calls.filter((call) => call.status === "awaiting_approval" && call.approvalId);
  if (!may("approvals:read") || !waiting.length) return <UnknownApproval />;
  return waiting.map((call) => <ApprovalCard key={call.approvalId} approvalId={call.approvalId ?? ""} />);
}

/** Says that a person decides, where the request itself may not be read. */
const UnknownApproval = () => (
  <section className={style.card} aria-label={say("waitsForApproval")}>
    <div className={style.head}>
      <KindIcon kind="wait" small />
      <b className="t-500 grow">{say("waitsForPerson")}</b>
    </div>
    <div className={style.foot}>
      <span className="grow t-12">{say("goesOn")}</span>
    </div>
  </section>
);

function ApprovalCard({ approvalId }: { approvalId: string }) {
  const may = usePermissionCheck();
  const { data: approval } = useQuery(approvalQuery(approvalId));
  const { data: mine } = useQuery({ ...decidableQuery, enabled: may("approvals:decide") });
  const who = useDeciderNames(approval);
  if (!approval) return <UnknownApproval />;
  const isMine = mine?.includes(approvalId) ?? false;
  const fields = approval.redacted ? [] : listApprovalFields(approval);
  return (
    <section className={style.card} aria-label={say("waitsForApproval")}>
      <div className={style.head}>
        <KindIcon kind="wait" small />
        <b className="t-500 grow cut">{approval.title ?? say("waitsForPerson")}</b>
        <span className="pill warn">{say(isMine ? "waitsForYou" : "waits")}</span>
      </div>
      {!approval.redacted && approval.description && (
        <p className={style.text}>{translateText(approval.description)}</p>
      )}
      <dl className={style.facts}>
        {fields.slice(0, MAX_FACTS).map(({ name, value }) => (
          <div key={name}>
            <dt>{formatFieldLabel(name)}</dt>
            <dd className="cut" title={formatValue(value)}>
              {formatValue(value)}
            </dd>
          </div>
        ))}
        <div>
          <dt>{say("decides")}</dt>
          <dd>{who}</dd>
        </div>
        <div>
          <dt>{say("asked")}</dt>
          <dd title={formatExactTime(approval.created_at)}>{formatTimeSince(approval.created_at)}</dd>
        </div>
        <div>
          <dt>{say("expires")}</dt>
          <dd className="num" title={formatExactTime(approval.expires_at)}>
            <TimeLeft until={approval.expires_at} />
          </dd>
        </div>
      </dl>
      {isMine && <DecisionFoot approval={approval} amount={findAmount(fields, {})} />}
      <RequesterFoot approval={approval} isMine={isMine} />
    </section>
  );
}

/** The people and roles that may decide, by their names. */
function useDeciderNames(approval: Approval | undefined): string {
  const { data: me } = useQuery(meQuery);
  const { user_ids: ids = [], roles = [] } = approval?.approvers ?? {};
  const nameOf = useNamesById(ids.filter((id) => id !== me?.id));
  const people = ids.map((id) => (id === me?.id ? say("yourself") : (nameOf(id) ?? say("somebody"))));
  return [...people, ...roles.map(roleNameOf)].join(", ");
}

/** Approve and reject where it was asked. What needs more than a comment is decided on the page of approvals. */
function DecisionFoot({ approval, amount }: { approval: Approval; amount: string }) {
  const [comment, setComment] = useState("");
  const decision = useApprovalDecision(approval.id);
  if (approval.fields.length > 0)
    return (
      <div className={style.decide}>
        <span className="grow">{say("needsMore")}</span>
        <ApprovalLink approval={approval} />
      </div>
    );
  return (
    <div className={style.decide}>
      {decision.error && (
        <div className="note bad" role="alert">
          {asApiError(decision.error).message}
        </div>
      )}
      <TextInput
        className="grow"
        size="xs"
        aria-label={say("comment")}
        placeholder={say("comment")}
        maxLength={4000}
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
      <Button
        size="xs"
        variant="default"
        leftSection={<X size={13} />}
        disabled={decision.isPending}
        onClick={() => decision.mutate({ verdict: "reject", comment })}
      >
        {say("reject")}
      </Button>
      <Button
        size="xs"
        leftSection={<Check size={13} />}
        loading={decision.isPending}
        onClick={() => decision.mutate({ verdict: "approve", comment })}
      >
        {[say("approve"), amount].filter(Boolean).join(" ")}
      </Button>
    </div>
  );
}

const ApprovalLink = ({ approval }: { approval: Approval }) => (
  <Link className="inline-link" to="/approvals" search={{ id: approval.id }}>
    {say("openApproval")}
  </Link>
);

/** What the requester can do meanwhile: nothing, remind, or take the request back. */
function RequesterFoot({ approval, isMine }: { approval: Approval; isMine: boolean }) {
  const { remind, cancel, mayRemind, mayCancel } = useRequesterActions(approval);
  const refusal = remind.error ?? cancel.error;
  return (
    <div className={style.foot}>
      <span className="grow t-12" role="status">
        {refusal ? asApiError(refusal).message : say(remind.isSuccess ? "reminded" : isMine ? "goesOn" : "youCanLeave")}
      </span>
      {mayRemind && !isMine && (
        <Button
          size="compact-sm"
          variant="default"
          disabled={remind.isSuccess}
          loading={remind.isPending}
          onClick={() => remind.mutate()}
        >
          {say("remind")}
        </Button>
      )}
      {mayCancel && (
        <Button size="compact-sm" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          {say("withdraw")}
        </Button>
      )}
    </div>
  );
}
