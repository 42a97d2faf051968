import ChevronLeft from "icon:chevron-left";
import Pencil from "icon:pencil";
import TriangleAlert from "icon:triangle-alert";
import { useMutationState } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { words } from "../../shared/i18n/words";
import { Avatar } from "../../shared/marks/avatar";
import { CopyableId } from "../../shared/marks/copyable_id";
import { KindIcon } from "../../shared/marks/kind_icon";
import { Pill } from "../../shared/marks/status";
import { roleName } from "../../shared/people/roles";
import { translateText } from "../../shared/sentences/sentences";
import { dayAndTime, exactTime, timeSince } from "../../shared/time";
import { useFields } from "../../shared/use_fields";
import style from "./approvals.module.css";
import { Requested, Why } from "./context";
import { Decide } from "./decide";
import { Decisions, EarlierDecisions } from "./decisions";
import { ExtraFields, extraOf } from "./extra";
import { InputField } from "./input_field";
import { STATUS_TONES, statusWord, useName } from "./people";
import { type Approval, endKey } from "./queries";
import { SourceMark } from "./source_mark";
import {
  type ApprovalEdits,
  callOf,
  editsOf,
  type Field,
  type FieldChange,
  fieldChanges,
  fieldsOf,
  labelOf,
} from "./values";
import en from "./words.en.json";

const say = words(en, "features/approvals");

type Props = {
  approval: Approval;
  mayDecide: boolean;
  hasEnded: boolean;
  onBack: () => void;
  onDecided: (text: string) => void;
  onGone: (text: string) => void;
};

export function Detail({ approval, mayDecide, hasEnded, onBack, onDecided, onGone }: Props) {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [extra, setExtra] = useState<Record<string, unknown>>({});
  const fields = fieldsOf(approval).map((field) => ({ ...field, isOpen: field.isOpen && mayDecide }));
  const edits = editsOf(fields, texts);
  const [refusal, setRefusal] = useState<Error>();
  const names = [
    ...fields.map((field) => `edited_input.${field.name}`),
    ...extraOf(approval).map(({ id }) => `data.${id}`),
  ];
  const { form, problemOf } = useFields<string, HTMLDivElement>(refusal, names);
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
          <Head approval={approval} />
          <Facts approval={approval} />
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
              fields={extraOf(approval)}
              values={extra}
              problemOf={(id) => problemOf(`data.${id}`)}
              onChange={setExtra}
            />
          )}
          <Why approval={approval} />
          <Decisions approval={approval} />
          <EarlierDecisions approval={approval} />
          <Requested approval={approval} />
        </div>
      </section>
      {isPending &&
        (mayDecide ? (
          <Decide
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
      <div role="status">{hasEnded && <Ended approval={approval} />}</div>
    </div>
  );
}

const Head = ({ approval }: { approval: Approval }) => (
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
  const open = fields.filter((field) => field.isOpen).map((field) => labelOf(field.name));
  return (
    <section className="card" aria-label={say(isPending ? "what" : "whatDecided")}>
      <div className="card-head">
        <KindIcon of={approval.source.type === "workflow" ? "flow" : "tool"} small />
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
      <Changes label={say("approverChanged")} of={fieldChanges(approval)} />
      <Changes label={say("youChange")} of={edits.changes} />
    </section>
  );
}

/** Stands where the buttons stood. What was decided or cancelled on this page needs no such words. */
function Ended({ approval }: { approval: Approval }) {
  const done = useMutationState({
    filters: { mutationKey: endKey(approval.id), predicate: ({ state }) => state.status !== "error" },
  });
  if (done.length) return null;
  return (
    <p className={`${style.foot} ${style.gone} t-13`}>
      <TriangleAlert size={15} />
      {say("ended", { status: statusWord(approval.status) })}
    </p>
  );
}

function Facts({ approval }: { approval: Approval }) {
  const who = useName(approval, approval.requested_by);
  const { roles } = approval.approvers;
  const call = callOf(approval);
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
        <dd title={roles.length ? say("roles", { roles: roles.map(roleName).join(", ") }) : undefined}>
          {say("decisionOf", { received: approval.approvals_received, required: approval.required_approvals })}
        </dd>
      </div>
      {approval.status === "pending" ? (
        <div>
          <dt>{say("ifNobody")}</dt>
          <dd>{say(end[approval.on_timeout], dayAndTime(approval.expires_at))}</dd>
        </div>
      ) : (
        <div>
          <dt>{say("resolvedAt")}</dt>
          <dd title={approval.resolved_at ? exactTime(approval.resolved_at) : undefined}>
            <Pill tone={STATUS_TONES[approval.status]}>{statusWord(approval.status)}</Pill>
            {approval.resolved_at && timeSince(approval.resolved_at)}
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

const Changes = ({ label, of }: { label: string; of: FieldChange[] }) =>
  of.length > 0 && (
    <div className={`${style.diff} num`} role="status">
      {of.map(({ name, before, after }) => (
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
