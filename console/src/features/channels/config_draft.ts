import type { ChannelConfig, ChannelProvider } from "./queries";

/** One key of a provider's configuration, as a field of the form. */
export type ConfigField = {
  name: string;
  kind: "text" | "number" | "choice" | "headers";
  isRequired: boolean;
  isSecret: boolean;
  choices: string[];
  /** What applies if the field is left empty. */
  preset?: string;
};
/** What somebody entered, by key; null removes what is stored. Every value is the text of its field. */
export type ConfigDraft = Record<string, string | null>;

export const CREDENTIAL_KEY = "credential_id";
/** Fixed recipients, which belong to the kind of channel and not to the provider. */
const RECIPIENT_FIELDS: Partial<Record<ChannelProvider["type"], string>> = { email: "to_email", sms: "to_number" };

const FIELD_KINDS: Record<string, ConfigField["kind"]> = { integer: "number", object: "headers" };

/** The fields of a provider in the order of its schema, and the recipient of its kind at the end. */
export function listConfigFields({ config_schema: schema, type }: ChannelProvider): ConfigField[] {
  const fields = Object.entries(schema).map(([name, key]): ConfigField => {
    const preset = key.default as unknown;
    return {
      name,
      kind: key.choices?.length ? "choice" : (FIELD_KINDS[key.type] ?? "text"),
      isRequired: key.required,
      isSecret: key.secret === true,
      choices: key.choices ?? [],
      preset: preset === undefined || preset === null ? undefined : String(preset),
    };
  });
  const recipient = RECIPIENT_FIELDS[type];
  if (!recipient || !fields.length || schema[recipient]) return fields;
  return [...fields, { name: recipient, kind: "text", isRequired: false, isSecret: false, choices: [] }];
}

const isHeaders = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** A stored value as the text of its field; secrets are never in a field. */
export function readStoredText(field: ConfigField, config: ChannelConfig): string {
  const value = config[field.name];
  if (field.isSecret || value === undefined || value === null) return "";
  if (isHeaders(value))
    return Object.entries(value)
      .map(([name, text]) => `${name}: ${String(text)}`)
      .join("\n");
  return String(value);
}

const HEADER_LINE = /^([^:\s]+)\s*:\s*(.*)$/;
const linesOf = (text: string) => text.split("\n").filter((line) => line.trim());

/** The first line that is no header such as "Accept: text/plain". */
export const findWrongHeader = (text: string) => linesOf(text).find((line) => !HEADER_LINE.test(line.trim()));

export const hasWrongHeaders = (fields: ConfigField[], draft: ConfigDraft) =>
  fields.some(({ name, kind }) => kind === "headers" && findWrongHeader(draft[name] ?? "") !== undefined);

function parseFieldText({ kind }: ConfigField, text: string): unknown {
  if (kind === "number" && /^\d+$/.test(text)) return Number(text);
  if (kind !== "headers") return text;
  return Object.fromEntries(
    linesOf(text).flatMap((line) => {
      const [, name, value] = HEADER_LINE.exec(line.trim()) ?? [];
      return name ? [[name, value ?? ""]] : [];
    }),
  );
}

const usesCredential = (draft: ConfigDraft, config: ChannelConfig) =>
  draft[CREDENTIAL_KEY] === undefined ? CREDENTIAL_KEY in config : draft[CREDENTIAL_KEY] !== null;

/** The keys that differ from what is stored, as the API merges them: null removes one, a missing one stays. */
export function collectConfigChanges(
  fields: ConfigField[],
  draft: ConfigDraft,
  config: ChannelConfig = {},
): ChannelConfig {
  const changes: ChannelConfig = {};
  const isByCredential = usesCredential(draft, config);
  const credential = draft[CREDENTIAL_KEY];
  if (credential && credential !== config[CREDENTIAL_KEY]) changes[CREDENTIAL_KEY] = credential;
  if (credential === null && CREDENTIAL_KEY in config) changes[CREDENTIAL_KEY] = null;
  for (const field of fields) {
    const entered = draft[field.name];
    if (entered === undefined || (field.isSecret && isByCredential)) continue;
    const text = entered?.trim() ?? "";
    if (text && (field.isSecret || text !== readStoredText(field, config))) {
      changes[field.name] = parseFieldText(field, text);
    } else if (!text && field.name in config && (entered === null || !field.isSecret)) {
      changes[field.name] = null;
    }
  }
  return changes;
}

/** Whether a field that the provider asks for is empty; with a credential it asks for nothing. */
export function hasMissingFields(fields: ConfigField[], draft: ConfigDraft, config: ChannelConfig = {}): boolean {
  if (usesCredential(draft, config)) return !(draft[CREDENTIAL_KEY] ?? config[CREDENTIAL_KEY]);
  return fields.some((field) => {
    if (!field.isRequired || field.preset !== undefined) return false;
    const entered = draft[field.name];
    if (entered?.trim()) return false;
    return field.isSecret
      ? entered === null || !(field.name in config)
      : entered !== undefined || !(field.name in config);
  });
}
