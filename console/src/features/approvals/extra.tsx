import { Checkbox, Select, Textarea, TextInput } from "@mantine/core";
import { formatFieldLabel } from "../../shared/approvals/field_label";
import type { Approval } from "../../shared/approvals/queries";
import { createTranslator } from "../../shared/i18n/words";
import style from "./approvals.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/approvals");
export type Extra = { id: string; label: string; type: string; isRequired: boolean; options: Option[] };
type Option = { value: string; label: string };
type Values = Record<string, unknown>;

const NUMBERS = ["number", "rating", "slider"];
const CHOICES = ["select", "radio"];
const MANY = ["multi_select", "checkbox_group"];

function parseOption(option: unknown): Option {
  if (typeof option !== "object" || option === null) return { value: String(option), label: String(option) };
  const { value, label } = option as { value?: unknown; label?: unknown };
  return { value: String(value ?? label), label: String(label ?? value) };
}

/** The fields that approvers fill in with their decision; hidden ones are the server's. */
export const listExtraFields = (approval: Approval): Extra[] =>
  (approval.fields as Record<string, unknown>[])
    .filter((field) => field.type !== "hidden")
    .map((field) => ({
      id: String(field.id),
      label: String(field.label ?? formatFieldLabel(String(field.id))),
      type: String(field.type),
      isRequired: field.required === true,
      options: Array.isArray(field.options) ? field.options.map(parseOption) : [],
    }));

type Props = {
  fields: Extra[];
  values: Values;
  problemOf: (id: string) => string | undefined;
  onChange: (values: Values) => void;
};

export function ExtraFields({ fields, values, problemOf, onChange }: Props) {
  return (
    <section className="card" aria-label={say("extra")}>
      <div className="card-head">
        <h3 className="t-sec">{say("extra")}</h3>
      </div>
      <div className={style.form}>
        {fields.map((field) => (
          <ExtraControl
            key={field.id}
            field={field}
            value={values[field.id]}
            problem={problemOf(field.id)}
            onChange={(value) => {
              const { [field.id]: _, ...rest } = values;
              onChange(value === undefined || value === "" ? rest : { ...rest, [field.id]: value });
            }}
          />
        ))}
      </div>
    </section>
  );
}

type ControlProps = { field: Extra; value: unknown; problem?: string; onChange: (value: unknown) => void };

function ExtraControl({ field, value, problem, onChange }: ControlProps) {
  const { label, type, isRequired, options } = field;
  const shared = { label, required: isRequired, error: problem };
  if (type === "checkbox")
    return (
      <Checkbox
        {...shared}
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked || undefined)}
      />
    );
  if (MANY.includes(type))
    return (
      <Checkbox.Group
        {...shared}
        className={style.lines}
        value={(value as string[] | undefined) ?? []}
        onChange={(many) => onChange(many.length ? many : undefined)}
      >
        <div className="row g16 wrap">
          {options.map((option) => (
            <Checkbox key={option.value} value={option.value} label={option.label} />
          ))}
        </div>
      </Checkbox.Group>
    );
  if (CHOICES.includes(type))
    return (
      <Select
        {...shared}
        data={options}
        value={(value as string | undefined) ?? null}
        onChange={(one) => onChange(one ?? undefined)}
      />
    );
  if (type === "textarea")
    return (
      <Textarea
        {...shared}
        className={style.lines}
        autosize
        minRows={2}
        value={String(value ?? "")}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  const isNumber = NUMBERS.includes(type);
  const readInput = (text: string) => (isNumber && text.trim() && Number.isFinite(Number(text)) ? Number(text) : text);
  return (
    <TextInput
      {...shared}
      type={type === "date" || type === "email" ? type : isNumber ? "number" : "text"}
      value={String(value ?? "")}
      onChange={(event) => onChange(readInput(event.currentTarget.value))}
    />
  );
}
