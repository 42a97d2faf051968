import { NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { createTranslator } from "../../shared/i18n/words";
import { SecretInput } from "../../shared/secret_input";
import { SECRET_MASK } from "../../shared/secrets/secret_line";
import style from "./channel_form.module.css";
import { configHintOf, configLabelOf } from "./channel_words";
import { type ConfigDraft, type ConfigField, findWrongHeader, readStoredText } from "./config_draft";
import { CredentialChoice } from "./credential_choice";
import type { ChannelConfig } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");

type ConfigInputsProps = {
  /** The id of the provider, which some labels depend on. */
  provider: string;
  fields: ConfigField[];
  draft: ConfigDraft;
  /** What is stored, with masked secrets; nothing for a channel that does not exist yet. */
  config?: ChannelConfig;
  problemOf: (name: string) => string | undefined;
  onChange: (draft: ConfigDraft) => void;
};

/** A field for each key that the provider takes; its secrets may come from a credential instead. */
export function ConfigInputs({ provider, fields, draft, config = {}, problemOf, onChange }: ConfigInputsProps) {
  const secrets = fields.filter((field) => field.isSecret);
  const inputOf = (field: ConfigField) => (
    <ConfigInput
      key={field.name}
      field={field}
      label={configLabelOf(provider, field.name)}
      hint={configHintOf(provider, field.name)}
      entered={draft[field.name]}
      stored={config}
      problem={problemOf(field.name)}
      onChange={(value) => onChange({ ...draft, [field.name]: value })}
    />
  );
  return (
    <div className={style.fields}>
      {fields.filter((field) => !field.isSecret).map(inputOf)}
      {secrets.length > 0 && (
        <CredentialChoice draft={draft} config={config} problem={problemOf("credential_id")} onChange={onChange}>
          {secrets.map(inputOf)}
        </CredentialChoice>
      )}
    </div>
  );
}

type ConfigInputProps = {
  field: ConfigField;
  label: string;
  hint?: string;
  entered: string | null | undefined;
  stored: ChannelConfig;
  problem?: string;
  onChange: (value: string | null) => void;
};

function ConfigInput({ field, label, hint, entered, stored, problem, onChange }: ConfigInputProps) {
  if (field.isSecret)
    return (
      <SecretConfigInput
        field={field}
        label={label}
        hint={hint}
        entered={entered}
        isStored={field.name in stored}
        problem={problem}
        onChange={onChange}
      />
    );
  const text = entered === undefined ? readStoredText(field, stored) : (entered ?? "");
  const common = {
    label,
    description: hint,
    error: problem,
    withAsterisk: field.isRequired && field.preset === undefined,
    placeholder: field.preset,
  };
  if (field.kind === "choice")
    return (
      <Select
        {...common}
        data={field.choices}
        allowDeselect={false}
        value={text || (field.preset ?? null)}
        onChange={(chosen) => onChange(chosen ?? "")}
      />
    );
  if (field.kind === "number")
    return (
      <NumberInput
        {...common}
        hideControls
        thousandSeparator={false}
        allowDecimal={false}
        allowNegative={false}
        value={text}
        onChange={(value) => onChange(String(value))}
      />
    );
  if (field.kind === "headers") {
    const wrong = findWrongHeader(text);
    return (
      <Textarea
        {...common}
        className={style.whole}
        classNames={{ input: "mono" }}
        error={problem ?? (wrong && say("wrongHeader", { line: wrong }))}
        autosize
        minRows={2}
        maxRows={8}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <TextInput
      {...common}
      className={field.name === "url" ? style.whole : undefined}
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

type SecretConfigInputProps = Omit<ConfigInputProps, "stored"> & { isStored: boolean };

/** A secret is only ever written: empty keeps the stored one, and an optional one can be removed. */
function SecretConfigInput({ field, label, hint, entered, isStored, problem, onChange }: SecretConfigInputProps) {
  const isRemoved = entered === null;
  const storedHint = isRemoved ? say("secretRemoved") : say("secretKept");
  return (
    <div className={`stack g6 ${style.whole}`}>
      <SecretInput
        label={label}
        description={isStored ? storedHint : hint}
        error={problem}
        withAsterisk={field.isRequired}
        placeholder={isStored && !isRemoved ? SECRET_MASK : undefined}
        autoComplete="new-password"
        spellCheck={false}
        visibilityToggleButtonProps={{ "aria-label": say("showSecret", { name: label }) }}
        value={entered ?? ""}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {isStored && !field.isRequired && (
        <button type="button" className={`t-12 ${style.link}`} onClick={() => onChange(isRemoved ? "" : null)}>
          {say(isRemoved ? "keepSecret" : "removeSecret")}
        </button>
      )}
    </div>
  );
}
