import { Select, Textarea, TextInput } from "@mantine/core";
import { lazy, Suspense } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import type { JsonValues } from "../queries";
import en from "../words.en.json";
import style from "./define.module.css";
import { JsonField } from "./json_field";
import type { SchemaField } from "./schema_fields";

const say = createTranslator(en, "features/tools");
const NumberInput = lazy(() => import("./number_input"));
const TagsInput = lazy(() => import("./tags_input"));

type SchemaFormProps = {
  fields: SchemaField[];
  values: JsonValues;
  labelOf?: (name: string) => string | undefined;
  hintOf?: (name: string) => string | undefined;
  problemOf?: (name: string) => string | undefined;
  onChange: (values: JsonValues) => void;
  onValidity: (name: string, isValid: boolean) => void;
};

/** A field for each property of a schema. An empty field is left out of the values. */
export const SchemaForm = ({ fields, values, labelOf, hintOf, problemOf, onChange, onValidity }: SchemaFormProps) => (
  <div className={style.fields}>
    {fields.map((field) => (
      <Suspense key={field.name} fallback={<span className="shim" />}>
        <SchemaInput
          field={field}
          label={labelOf?.(field.name)}
          hint={hintOf?.(field.name)}
          value={values[field.name]}
          problem={problemOf?.(field.name)}
          onChange={(value) => {
            const { [field.name]: _, ...others } = values;
            onChange(value === undefined ? others : { ...others, [field.name]: value });
          }}
          onValidity={(isValid) => onValidity(field.name, isValid)}
        />
      </Suspense>
    ))}
  </div>
);

type SchemaInputProps = {
  field: SchemaField;
  label?: string;
  hint?: string;
  value: unknown;
  problem?: string;
  onChange: (value: unknown) => void;
  onValidity: (isValid: boolean) => void;
};

function SchemaInput({ field, label, hint, value, problem, onChange, onValidity }: SchemaInputProps) {
  const common = {
    label: label ?? <span className="mono t-12">{field.name}</span>,
    "aria-label": label ?? field.name,
    description: hint ?? field.description,
    error: problem,
    withAsterisk: field.isRequired,
    placeholder: field.preset,
  };
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
  if (field.kind === "choice")
    return (
      <Select
        {...common}
        clearable={!field.isRequired}
        data={field.choices}
        value={text || null}
        onChange={(chosen) => onChange(chosen ?? undefined)}
      />
    );
  if (field.kind === "boolean")
    return (
      <Select
        {...common}
        clearable
        data={[
          { value: "true", label: say("yes") },
          { value: "false", label: say("no") },
        ]}
        placeholder={field.preset === "true" ? say("yes") : say("no")}
        value={typeof value === "boolean" ? String(value) : null}
        onChange={(chosen) => onChange(chosen ? chosen === "true" : undefined)}
      />
    );
  if (field.kind === "number")
    return (
      <NumberInput
        {...common}
        value={typeof value === "number" ? value : ""}
        onChange={(entered) => onChange(entered === "" ? undefined : Number(entered))}
      />
    );
  if (field.kind === "list")
    return (
      <TagsInput
        {...common}
        data={field.choices}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={(entered) => onChange(entered.length ? entered : undefined)}
      />
    );
  if (field.kind === "json")
    return <JsonField {...common} className={style.whole} value={value} onChange={onChange} onValidity={onValidity} />;
  // A setting is a word or an address; an input may be a text.
  if (label)
    return (
      <TextInput {...common} value={text} onChange={(event) => onChange(event.currentTarget.value || undefined)} />
    );
  return (
    <Textarea
      {...common}
      autosize
      minRows={1}
      maxRows={6}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  );
}
