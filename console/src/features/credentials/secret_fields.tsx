import { NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { createTranslator } from "../../shared/i18n/words";
import { SecretInput } from "../../shared/secret_input";
import { TagsField } from "../../shared/tags_field";
import style from "./credential.module.css";
import type { CredentialType, SecretValues } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");
const LONG_KEYS = ["private_key"];
type SecretKey = CredentialType["secret_schema"][string];

type SecretFieldsProps = {
  schema: CredentialType["secret_schema"];
  values: SecretValues;
  problemOf: (name: string) => string | undefined;
  /** Whether an empty field leaves the stored value as it is. */
  isChange?: boolean;
  onChange: (values: SecretValues) => void;
};

/** A field for each key that the type takes; the server's schema says which. */
export const SecretFields = ({ schema, values, problemOf, isChange, onChange }: SecretFieldsProps) => (
  <div className={style.fields}>
    {Object.entries(schema).map(([name, key]) => (
      <SecretField
        key={name}
        name={name}
        schema={key}
        value={values[name]}
        problem={problemOf(name)}
        isRequired={key.required && !isChange}
        onChange={(value) => onChange({ ...values, [name]: value })}
      />
    ))}
  </div>
);

type SecretFieldProps = {
  name: string;
  schema: SecretKey;
  value: unknown;
  problem?: string;
  isRequired: boolean;
  onChange: (value: unknown) => void;
};

function SecretField({ name, schema, value, problem, isRequired, onChange }: SecretFieldProps) {
  const common = {
    label: <span className="mono t-12">{name}</span>,
    description: schema.description,
    error: problem,
    withAsterisk: isRequired,
    "aria-label": name,
  };
  const text = typeof value === "string" ? value : "";
  if (schema.choices.length)
    return <Select {...common} clearable data={schema.choices} value={text || null} onChange={onChange} />;
  if (schema.type === "integer")
    return (
      <NumberInput
        {...common}
        value={typeof value === "number" ? value : ""}
        onChange={(entered) => onChange(entered === "" ? undefined : Number(entered))}
      />
    );
  if (schema.type === "array")
    return <TagsField {...common} value={Array.isArray(value) ? value : []} onChange={onChange} />;
  if (LONG_KEYS.includes(name))
    return (
      <Textarea
        {...common}
        className={style.wide}
        classNames={{ input: "mono" }}
        autosize
        minRows={3}
        maxRows={8}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  if (schema.secret)
    return (
      <SecretInput
        {...common}
        autoComplete="new-password"
        spellCheck={false}
        visibilityToggleButtonProps={{ "aria-label": say("showSecret", { name }) }}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return <TextInput {...common} value={text} onChange={(event) => onChange(event.currentTarget.value)} />;
}

/** What was entered; empty fields are left out. */
export const enteredSecrets = (values: SecretValues): SecretValues =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) => value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && !value.length),
    ),
  );
