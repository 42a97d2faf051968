import ChevronLeft from "icon:chevron-left";
import Pencil from "icon:pencil";
import TriangleAlert from "icon:triangle-alert";
import { useMutationState } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { formatFieldLabel } from "../../shared/approvals/field_label";
import { type Approval, decisionEndKey } from "../../shared/approvals/queries";
import {
  type ApprovalEdits,
  collectEdits,
  type Field,
  type FieldChange,
  findRequestedCall,
  listApprovalFields,
  listFieldChanges,
} from "../../shared/approvals/values";
import { createTranslator } from "../../shared/i18n/words";
import { Avatar } from "../../shared/marks/avatar";
import { CopyableId } from "../../shared/marks/copyable_id";
import { KindIcon } from "../../shared/marks/kind_icon";
import { StatusPill } from "../../shared/marks/status";
import { roleNameOf } from "../../shared/people/roles";
import { translateText } from "../../shared/sentences/sentences";
import { formatDayAndTime, formatExactTime, formatTimeSince } from "../../shared/time";
import { useFieldProblems } from "../../shared/use_fields";
import style from "./approvals.module.css";
import { ApprovalReason, RequestedContext } from "./context";
import { DecisionForm } from "./decide";
import { DecisionList, EarlierDecisions, NobodyLeftNote } from "./decisions";
import { ExtraFields, listExtraFields } from "./extra";
import { InputField } from "./input_field";
import { describeApprovalStatus, STATUS_TONES, usePrincipalName } from "./people";
import { SourceMark } from "./source_mark";
import en from "./words.en.json";

const say = createTranslator(en, "features/approvals");

type Props = {
  approval: Approval;
  mayDecide: boolean;
  hasEnded: boolean;
  onBack: () => void;
  onDecided: (text: string) => void;
  onGone: (text: string) => void;
};

export function ApprovalDetail({ approval, mayDecide, hasEnded, onBack, onDecided, onGone }: Props) {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [extra, setExtra] = useState<Record<string, unknown>>({});
  const fields = listApprovalFields(approval).map((field) => ({ ...field, isOpen: field.isOpen && mayDecide }));
  const edits = collectEdits(fields, texts);
  const [refusal, setRefusal] = useState<Error>();
  const names = [
    ...fields.map((field) => `edited_input.${field.name}`),
    ...listExtraFields(approval).map(({ id }) => `data.${id}`),
  ];
  const { form, problemOf } = useFieldProblems<string, HTMLDivElement>(refusal, names);
  const isPending = approval.status === "pending";
  return (
    <div className={style.ask}>
      <section
        className={style.body}
        aria-label={say("request")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        tabIndex={0}
      >
        <div className={style.inner} ref={form}>
          <Link to="/approvals" className={style.back} onClick={onBack}>
            <ChevronLeft size={16} />
            {say("back")}
          </Link>
          <ApprovalHead approval={approval} />
          <NobodyLeftNote approval={approval} />
          <ApprovalFacts approval={approval} />
          {!approval.redacted && (
            <RequestedInput
              approval={approval}
              fields={fields}
              texts={texts}
              edits={edits}
              problemOf={problemOf}
              onTexts={setTexts}
            />
          )}
          {isPending && mayDecide && approval.fields.length > 0 && (
            <ExtraFields
              fields={listExtraFields(approval)}
              values={extra}
              problemOf={(id) => problemOf(`data.${id}`)}
              onChange={setExtra}
            />
          )}
          <ApprovalReason approval={approval} />
          <DecisionList approval={approval} />
          <EarlierDecisions approval={approval} />
          <RequestedContext approval={approval} />
        </div>
      </section>
      {isPending &&
        (mayDecide ? (
          <DecisionForm
            approval={approval}
            fields={fields}
            texts={texts}
            edits={edits}
            extra={approval.fields.length ? extra : undefined}
            onDecided={onDecided}
            onGone={onGone}
            onRefused={setRefusal}
          />
        ) : (
          <p className={`${style.foot} t-13 t-3`}>{say("notYours")}</p>
        ))}
      <div role="status">{hasEnded && <EndedNote approval={approval} />}</div>
    </div>
  );
}

const ApprovalHead = ({ approval }: { approval: Approval }) => (
  <div className="row g12 top">
    <SourceMark approval={approval} size={40} />
    <div className="stack g4">
      <h2 className="t-page">{approval.title ?? approval.id}</h2>
      <p className="t-2">{approval.redacted ? say("redacted") : translateText(approval.description ?? "")}</p>
    </div>
  </div>
);

type RequestedInputProps = {
  approval: Approval;
  fields: Field[];
  texts: Record<string, string>;
  edits: ApprovalEdits;
  problemOf: (name: string) => string | undefined;
  onTexts: (texts: Record<string, string>) => void;
};

/** The values of the call or step that waits; those that may be changed are fields. */
function RequestedInput({ approval, fields, texts, edits, problemOf, onTexts }: RequestedInputProps) {
  const isPending = approval.status === "pending";
  const open = fields.filter((field) => field.isOpen).map((field) => formatFieldLabel(field.name));
  return (
    <section className="card" aria-label={say(isPending ? "what" : "whatDecided")}>
      <div className="card-head">
        <KindIcon kind={approval.source.type === "workflow" ? "flow" : "tool"} small />
        <h3 className="t-sec fix">{say(isPending ? "what" : "whatDecided")}</h3>
        {open.length > 0 && (
          <span className="push t-12 t-3 row g4">
            <Pencil size={12} />
            <span className="cut">{say("change", { fields: open.join(", ") })}</span>
          </span>
        )}
      </div>
      <div className={style.form}>
        {fields.length === 0 && <p className={`t-13 t-3 ${style.lines}`}>{say("nothing")}</p>}
        {fields.map((field) => (
          <InputField
            key={field.name}
            field={field}
            text={texts[field.name]}
            problem={edits.problems[field.name]}
            refused={problemOf(`edited_input.${field.name}`)}
            onChange={(text) => onTexts({ ...texts, [field.name]: text })}
          />
        ))}
      </div>
      <FieldChangeList label={say("approverChanged")} changes={listFieldChanges(approval)} />
      <FieldChangeList label={say("youChange")} changes={edits.changes} />
    </section>
  );
}

/** Stands where the buttons stood. What was decided or cancelled on this page needs no such words. */
function EndedNote({ approval }: { approval: Approval }) {
  const done = useMutationState({
    filters: { mutationKey: decisionEndKey(approval.id), predicate: ({ state }) => state.status !== "error" },
  });
  if (done.length) return null;
  return (
    <p className={`${style.foot} ${style.gone} t-13`}>
      <TriangleAlert size={15} />
      {say("ended", { status: describeApprovalStatus(approval.status) })}
    </p>
  );
}

function ApprovalFacts({ approval }: { approval: Approval }) {
  const who = usePrincipalName(approval, approval.requested_by);
  const { roles } = approval.approvers;
  const call = findRequestedCall(approval);
  const end = { reject: "ifReject", approve: "ifApprove", fail: "ifFail" } as const;
  return (
    <dl className={style.facts}>
      {call && (
        <>
          <div>
            <dt>{say("tool")}</dt>
            <dd>{call.tool}</dd>
          </div>
          <div>
            <dt>{say("function")}</dt>
            <dd>
              <code className={`mono ${style.called}`}>{call.name}</code>
            </dd>
          </div>
        </>
      )}
      <div>
        <dt>{say("askedBy")}</dt>
        <dd title={approval.requested_by.id}>
          <Avatar name={who} />
          {who}
        </dd>
      </div>
      <div>
        <dt>{say("decides")}</dt>
        <dd title={roles.length ? say("roles", { roles: roles.map(roleNameOf).join(", ") }) : undefined}>
          {say("decisionOf", { received: approval.approvals_received, required: approval.required_approvals })}
        </dd>
      </div>
      {approval.status === "pending" ? (
        <div>
          <dt>{say("ifNobody")}</dt>
          <dd>{say(end[approval.on_timeout], formatDayAndTime(approval.expires_at))}</dd>
        </div>
      ) : (
        <div>
          <dt>{say("resolvedAt")}</dt>
          <dd title={approval.resolved_at ? formatExactTime(approval.resolved_at) : undefined}>
            <StatusPill tone={STATUS_TONES[approval.status]}>{describeApprovalStatus(approval.status)}</StatusPill>
            {approval.resolved_at && formatTimeSince(approval.resolved_at)}
          </dd>
        </div>
      )}
      <div>
        <dt>{say("id")}</dt>
        <dd>
          <CopyableId>{approval.id}</CopyableId>
        </dd>
      </div>
    </dl>
  );
}

const FieldChangeList = ({ label, changes }: { label: string; changes: FieldChange[] }) =>
  changes.length > 0 && (
    <div className={`${style.diff} num`} role="status">
      {changes.map(({ name, before, after }) => (
        <span key={name} className="row g8 wrap">
          <span className="t-12 t-2">{label}</span>
          <code className="mono">{name}</code>
          <s>{before || "–"}</s>
          <span aria-hidden>→</span>
          <b>{after || "–"}</b>
        </span>
      ))}
    </div>
  );
