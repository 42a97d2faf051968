import Check from "icon:check";
import TriangleAlert from "icon:triangle-alert";
import X from "icon:x";
import { Button, Kbd, Textarea } from "@mantine/core";
import { useRef, useState } from "react";
import { asApiError } from "../../api/errors";
import { formatFieldLabel } from "../../shared/approvals/field_label";
import { type Approval, type Decision, useApprovalDecision } from "../../shared/approvals/queries";
import { type ApprovalEdits, type Field, findAmount } from "../../shared/approvals/values";
import { usePageCommands } from "../../shared/frame/commands";
import { useShortcutKeys } from "../../shared/frame/keys";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { translateProblem } from "../../shared/refusals/refusals";
import style from "./approvals.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/approvals");
type Verdict = Decision["verdict"];

type Props = {
  approval: Approval;
  fields: Field[];
  texts: Record<string, string>;
  edits: ApprovalEdits;
  extra?: Record<string, unknown>;
  onDecided: (text: string) => void;
  onGone: (text: string) => void;
  /** What the server refused of which field, such as `edited_input.amount` and `data.reason`. */
  onRefused: (error: Error) => void;
};

/** The comment and the two buttons. `A` and `R` lead to the comment first; Ctrl Enter confirms. */
export function DecisionForm({ approval, fields, texts, edits, extra, onDecided, onGone, onRefused }: Props) {
  const [comment, setComment] = useState("");
  const [meant, setMeant] = useState<Verdict>();
  const box = useRef<HTMLTextAreaElement>(null);
  const isSent = useRef(false);
  const decision = useApprovalDecision(approval.id);
  const isWrong = Object.keys(edits.problems).length > 0;
  const sendDecision = async (verdict: Verdict) => {
    if (isSent.current || (verdict === "approve" && isWrong)) return;
    // The second click of a double click comes before the button is drawn as busy.
    isSent.current = true;
    await decision.mutateAsync({ verdict, comment, edited: edits.edited, data: extra }).catch((error) => {
      isSent.current = false;
      throw error;
    });
    if (verdict === "reject") return onDecided(say("doneRejected"));
    const isLast = approval.approvals_received + 1 >= approval.required_approvals;
    onDecided(say(isLast ? "doneApproved" : "doneWaiting"));
  };
  const submitVerdict = (verdict: Verdict) =>
    void sendDecision(verdict).catch((error) => {
      const { status, message } = asApiError(error);
      if (status === 409 || status === 410) onGone(message);
      else onRefused(error);
    });
  const preferVerdict = (verdict: Verdict) => () => {
    setMeant(verdict);
    box.current?.focus();
  };
  usePageCommands([
    { label: say("approve"), keys: "a", run: preferVerdict("approve") },
    { label: say("reject"), keys: "r", run: preferVerdict("reject") },
  ]);
  useShortcutKeys(meant ? { "mod+enter": () => submitVerdict(meant) } : {});
  const amount = findAmount(fields, texts);
  return (
    <div className={style.foot}>
      {decision.error && (
        <div className="note bad" role="alert" style={{ flexBasis: "100%" }}>
          <TriangleAlert size={15} />
          <span>{describeRejectedValues(decision.error)}</span>
        </div>
      )}
      <Textarea
        ref={box}
        className={style.comment}
        aria-label={say("comment")}
        placeholder={say("say")}
        autosize
        minRows={1}
        maxRows={5}
        maxLength={4000}
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
      <Button
        variant="default"
        className={style.no}
        leftSection={<X size={14} />}
        rightSection={<Kbd className="wide">R</Kbd>}
        loading={decision.isPending && decision.variables?.verdict === "reject"}
        disabled={decision.isPending}
        onClick={() => submitVerdict("reject")}
      >
        {say("reject")}
      </Button>
      <Button
        leftSection={<Check size={14} />}
        rightSection={<Kbd className="wide">A</Kbd>}
        loading={decision.isPending && decision.variables?.verdict === "approve"}
        disabled={decision.isPending || isWrong}
        onClick={() => submitVerdict("approve")}
      >
        {[say("approve"), amount].filter(Boolean).join(" ")}
      </Button>
      {meant && <ConfirmHint verdict={meant} />}
    </div>
  );
}

const ConfirmHint = ({ verdict }: { verdict: Verdict }) => (
  <p className={`${style.hint} t-12 t-3 row g6 wide`} role="status">
    <b className="t-500">{say(verdict)}:</b> <Kbd>{general("ctrl")}</Kbd> <Kbd>↵</Kbd> {say("confirm")}
  </p>
);

/** What the server refused, with the fields that it names. */
function describeRejectedValues(rejected: unknown): string {
  const { message, details } = asApiError(rejected);
  const fields = Object.entries((details.fields ?? {}) as Record<string, unknown>);
  return [
    message,
    ...fields.map(([name, problem]) => `${formatFieldLabel(name)} ${translateProblem(String(problem))}`),
  ].join(" ");
}
