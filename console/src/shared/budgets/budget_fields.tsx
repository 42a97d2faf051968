import { NumberInput, SegmentedControl, Select } from "@mantine/core";
import { createTranslator } from "../i18n/words";
import style from "./budget_fields.module.css";
import type { Budget } from "./forecast";
import type { BudgetFields } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "shared/budgets");
const ACTIONS = ["block", "fallback", "notify"] as const;
const UNPRICED = ["refuse", "allow"] as const;
const MAX_USD = 1_000_000_000;
const DEFAULT_SOFT_PERCENT = 80;
export const BUDGET_FIELD_NAMES = [
  "limit_usd",
  "limit_tokens",
  "period",
  "action",
  "soft_percent",
  "on_unpriced",
] as const;

export const createBudgetForm = (budget?: Budget) => ({
  unit: (budget?.limit_tokens != null ? "tokens" : "usd") as "usd" | "tokens",
  limit: budget?.limit_usd ?? budget?.limit_tokens ?? ("" as number | string),
  period: budget?.period ?? ("month" as Budget["period"]),
  action: budget?.action ?? ("block" as Budget["action"]),
  softPercent: budget?.soft_percent ?? (DEFAULT_SOFT_PERCENT as number | string),
  onUnpriced: budget?.on_unpriced ?? ("refuse" as Budget["on_unpriced"]),
});
export type BudgetForm = ReturnType<typeof createBudgetForm>;

// A number on its way, such as "2,", is a text: it stays in the field until it is whole.
export const isBudgetComplete = ({ limit, softPercent }: BudgetForm) => Number(limit) > 0 && Number(softPercent) >= 1;

/** A budget in tokens counts every model, and one that only notifies refuses none. */
const choosesUnpriced = ({ unit, action }: BudgetForm) => unit === "usd" && action !== "notify";

export const toBudgetFields = (form: BudgetForm): BudgetFields => ({
  limit_usd: form.unit === "usd" ? Number(form.limit) : null,
  limit_tokens: form.unit === "tokens" ? Math.round(Number(form.limit)) : null,
  period: form.period,
  action: form.action,
  soft_percent: Math.round(Number(form.softPercent)),
  ...(choosesUnpriced(form) ? { on_unpriced: form.onUnpriced } : {}),
});

export function BudgetChoice<T extends string>(props: {
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

type BudgetFieldsProps = {
  form: BudgetForm;
  problemOf: (name: (typeof BUDGET_FIELD_NAMES)[number]) => string | undefined;
  hasFocus?: boolean;
  onChange: (part: Partial<BudgetForm>) => void;
};

/** How much, of what, in which time, and what happens at the limit. */
export function BudgetFieldGroup({ form, problemOf, hasFocus = true, onChange }: BudgetFieldsProps) {
  const isUsd = form.unit === "usd";
  return (
    <>
      <div className={style.limit}>
        <NumberInput
          data-autofocus={hasFocus || undefined}
          label={say("limit")}
          error={problemOf("limit_usd") ?? problemOf("limit_tokens")}
          min={isUsd ? 0 : 1}
          max={MAX_USD}
          decimalScale={isUsd ? 2 : 0}
          value={form.limit}
          onChange={(value) => onChange({ limit: value })}
        />
        <BudgetChoice
          label={say("unit")}
          value={form.unit}
          choices={[
            { value: "usd", label: say("usd") },
            { value: "tokens", label: say("tokens") },
          ]}
          onChange={(unit) => onChange({ unit })}
        />
        <BudgetChoice
          label={say("each")}
          value={form.period}
          choices={[
            { value: "day", label: say("day") },
            { value: "month", label: say("month") },
          ]}
          onChange={(period) => onChange({ period })}
        />
      </div>
      <div className={style.rules}>
        <Select
          label={say("atLimit")}
          error={problemOf("action")}
          data={ACTIONS.map((value) => ({ value, label: say(`choose_${value}`) }))}
          value={form.action}
          onChange={(value) => value && onChange({ action: value })}
        />
        <NumberInput
          label={say("softPercent")}
          error={problemOf("soft_percent")}
          min={1}
          max={100}
          suffix=" %"
          decimalScale={0}
          value={form.softPercent}
          onChange={(value) => onChange({ softPercent: value })}
        />
        {choosesUnpriced(form) && (
          <Select
            className={style.wide}
            label={say("onUnpriced")}
            description={say("onUnpricedHint")}
            error={problemOf("on_unpriced")}
            data={UNPRICED.map((value) => ({ value, label: say(`unpriced_${value}`) }))}
            value={form.onUnpriced}
            onChange={(value) => value && onChange({ onUnpriced: value })}
          />
        )}
      </div>
    </>
  );
}
