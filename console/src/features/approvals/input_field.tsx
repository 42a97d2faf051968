import { Checkbox, Textarea, TextInput } from "@mantine/core";
import { formatFieldLabel } from "../../shared/approvals/field_label";
import { type Field, formatValue } from "../../shared/approvals/values";
import { createTranslator } from "../../shared/i18n/words";
import style from "./approvals.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/approvals");

type Props = { field: Field; text?: string; problem?: string; refused?: string; onChange: (text: string) => void };

/** One value of the call: open fields are controls of their type, the others can only be read. */
export function InputField({ field, text = formatValue(field.value), problem, refused, onChange }: Props) {
  const { name, control, isOpen } = field;
  const error = problem ? say(problem === "number" ? "number" : "json") : refused;
  const shared = {
    label: formatFieldLabel(name),
    error,
    readOnly: !isOpen,
    variant: isOpen ? "default" : "filled",
    labelProps: { title: name },
  };
  if (control === "flag" && isOpen)
    return (
      <Checkbox
        label={formatFieldLabel(name)}
        error={error}
        checked={text === "true"}
        onChange={(event) => onChange(String(event.currentTarget.checked))}
        style={{ alignSelf: "center" }}
      />
    );
  if (control === "lines" || control === "json")
    return (
      <Textarea
        {...shared}
        className={`${style.lines} ${control === "json" ? style.mono : ""}`}
        autosize
        minRows={1}
        maxRows={10}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return (
    <TextInput
      {...shared}
      inputMode={control === "number" ? "decimal" : undefined}
      value={control === "flag" ? say(text === "true" ? "yes" : "no") : text}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
