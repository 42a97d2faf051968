import { Button, Modal, NumberInput, SegmentedControl, Select } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { words } from "../../shared/i18n/words";
import { useFields } from "../../shared/use_fields";
import { type Budget, type BudgetFields, useDeleteBudget, useSaveBudget } from "./queries";
import style from "./statistics.module.css";
import en from "./words.en.json";

const say = words(en, "features/statistics");
const ACTIONS = ["block", "fallback", "notify"] as const;
const MAX_USD = 1_000_000_000;
type Unit = "usd" | "tokens";

const initialForm = (budget?: Budget) => ({
  unit: (budget?.limit_tokens != null ? "tokens" : "usd") as Unit,
  limit: budget?.limit_usd ?? budget?.limit_tokens ?? ("" as number | string),
  period: budget?.period ?? ("month" as Budget["period"]),
  action: budget?.action ?? ("block" as Budget["action"]),
});
type Form = ReturnType<typeof initialForm>;

const fieldsOf = ({ unit, limit, period, action }: Form): BudgetFields => ({
  limit_usd: unit === "usd" ? Number(limit) : null,
  limit_tokens: unit === "tokens" ? Math.round(Number(limit)) : null,
  period,
  action,
});

function Choice<T extends string>(props: {
  label: string;
  value: T;
  choices: { value: T; label: string }[];
  onChange: (value: T) => void;
}) {
  return (
    <div className="stack g4">
      <span className="r-label">{props.label}</span>
      <SegmentedControl
        aria-label={props.label}
        data={props.choices}
        value={props.value}
        onChange={(chosen) => props.onChange(chosen as T)}
      />
    </div>
  );
}

type LimitProps = { form: Form; problem?: string; onChange: (part: Partial<Form>) => void };

/** How much, of what, and in which time. */
function LimitFields({ form, problem, onChange }: LimitProps) {
  const isUsd = form.unit === "usd";
  return (
    <div className={style.limit}>
      <NumberInput
        data-autofocus
        label={say("limit")}
        error={problem}
        min={isUsd ? 0 : 1}
        max={MAX_USD}
        decimalScale={isUsd ? 2 : 0}
        value={form.limit}
        onChange={(value) => onChange({ limit: value })}
      />
      <Choice
        label={say("unit")}
        value={form.unit}
        choices={[
          { value: "usd", label: say("usd") },
          { value: "tokens", label: say("tokens") },
        ]}
        onChange={(unit) => onChange({ unit })}
      />
      <Choice
        label={say("each")}
        value={form.period}
        choices={[
          { value: "day", label: say("day") },
          { value: "month", label: say("month") },
        ]}
        onChange={(period) => onChange({ period })}
      />
    </div>
  );
}

/** Removes with the second click: the first one asks. */
function RemoveButton({ isBusy, onRemove }: { isBusy: boolean; onRemove: () => void }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <Button
      className="push"
      color="red"
      variant={isAsked ? "filled" : "default"}
      loading={isBusy}
      onClick={() => (isAsked ? onRemove() : setAsked(true))}
    >
      {say(isAsked ? "removeSure" : "remove")}
    </Button>
  );
}

type Props = { agentId: string; budget?: Budget; onClose: () => void };

/** Set, change or remove what this agent may spend. */
export function BudgetDialog({ agentId, budget, onClose }: Props) {
  const [form, setForm] = useState(() => initialForm(budget));
  const save = useSaveBudget(agentId, budget?.id);
  const remove = useDeleteBudget();
  const set = (part: Partial<Form>) => setForm({ ...form, ...part });
  const { form: fields, rest, problemOf } = useFields(save.error, ["limit_usd", "limit_tokens", "period", "action"]);
  const refusal = rest || (remove.error && asApiError(remove.error).message);
  // A number on its way, such as "2,", is a text: it stays in the field until it is whole.
  const hasLimit = Number(form.limit) > 0;
  return (
    <Modal opened onClose={onClose} title={say(budget ? "changeTitle" : "addTitle")}>
      <form
        ref={fields}
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          if (hasLimit) save.mutate(fieldsOf(form), { onSuccess: onClose });
        }}
      >
        {refusal && (
          <div className="note bad" role="alert">
            {refusal}
          </div>
        )}
        <LimitFields form={form} problem={problemOf("limit_usd") ?? problemOf("limit_tokens")} onChange={set} />
        <Select
          label={say("atLimit")}
          error={problemOf("action")}
          data={ACTIONS.map((value) => ({ value, label: say(`choose_${value}`) }))}
          value={form.action}
          onChange={(value) => value && set({ action: value })}
        />
        <div className="row g8">
          <Button type="submit" disabled={!hasLimit} loading={save.isPending}>
            {say("saveBudget")}
          </Button>
          <Button variant="default" onClick={onClose}>
            {say("cancel")}
          </Button>
          {budget && (
            <RemoveButton isBusy={remove.isPending} onRemove={() => remove.mutate(budget.id, { onSuccess: onClose })} />
          )}
        </div>
      </form>
    </Modal>
  );
}
