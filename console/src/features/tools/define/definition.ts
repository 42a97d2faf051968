import type { JsonValues, Tool, ToolCreate, ToolUpdate } from "../queries";
import configSchemas from "./config_schemas.json";
import { readSchemaFields, type SchemaField } from "./schema_fields";

/** What of a tool is entered. `authConfig` stays undefined as long as nobody touches the secrets. */
export type Definition = {
  name: string;
  description: string;
  category: Tool["category"];
  type: Tool["tool_type"];
  config: JsonValues;
  authType: Tool["auth_type"];
  authConfig?: JsonValues;
  inputSchema: unknown;
  requiresApproval: boolean;
  approval: Tool["approval"];
};
type ConfigSchema = { properties: JsonValues; required: string[]; example: JsonValues };
const SCHEMAS: Record<string, ConfigSchema | undefined> = configSchemas;

/** What an import writes, and what another field of the form holds. */
const NOT_ENTERED = ["kind", "functions", "ignored_functions", "protocol_version", "listed_at", "digest", "transport"];
const ENTERED_APART = ["code", "endpoints"];

/** The kinds of settings: those of the types, and of custom tools one for each `kind`. */
export const CONFIG_KINDS = Object.keys(SCHEMAS);
export const configKindOf = ({ type, config }: Pick<Definition, "type" | "config">) =>
  type === "custom" ? `custom/${String(config.kind)}` : type;
export const exampleConfigOf = (kind: string): JsonValues => structuredClone(SCHEMAS[kind]?.example ?? {});

/** Headers that every request carries and no field shows, so that a rewritten example does not carry them unseen. */
const NOT_SHOWN = ["default_params", "default_headers"];

/** The example of a kind as a new tool begins with it. */
export function firstConfigOf(kind: string): JsonValues {
  const config = exampleConfigOf(kind);
  for (const endpoint of Object.values((config.endpoints ?? {}) as Record<string, JsonValues>))
    for (const name of NOT_SHOWN) delete endpoint[name];
  return config;
}

/** The fields for the settings of a kind; none for a kind that this console does not know. */
export const configFieldsOf = (kind: string): SchemaField[] =>
  readSchemaFields(SCHEMAS[kind]).filter(({ name }) => !NOT_ENTERED.includes(name) && !ENTERED_APART.includes(name));

export const definitionOf = (tool: Tool): Definition => ({
  name: tool.name,
  description: tool.description,
  category: tool.category,
  type: tool.tool_type,
  config: tool.config,
  authType: tool.auth_type,
  inputSchema: tool.input_schema ?? undefined,
  requiresApproval: tool.requires_approval,
  approval: tool.approval,
});

/** Whether any call asks first: all of the tool, or one of its requests or functions. */
export const isAskingFirst = ({ requiresApproval, config }: Pick<Definition, "requiresApproval" | "config">) =>
  requiresApproval ||
  [config.endpoints, config.functions].some((declared) =>
    Object.values((declared ?? {}) as Record<string, JsonValues>).some((part) => part.requires_approval === true),
  );

const isSame = (one: unknown, other: unknown) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** The keys that differ; null for each that is gone, as the API removes keys. */
function changedKeys(before: JsonValues, after: JsonValues): JsonValues {
  const changed: JsonValues = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    if (!isSame(before[name], after[name])) changed[name] = after[name] ?? null;
  return changed;
}

/** Settings are merged by key, endpoints and functions by name: only what differs is sent. */
export function configChanges(before: JsonValues, after: JsonValues): JsonValues {
  const changed = changedKeys(before, after);
  for (const name of ["endpoints", "functions"])
    if (changed[name]) changed[name] = changedKeys((before[name] ?? {}) as JsonValues, after[name] as JsonValues);
  return changed;
}

/** What has to be sent so that the tool becomes what was entered; empty if nothing was changed. */
export function toolChanges(tool: Tool, entered: Definition): ToolUpdate {
  const before = definitionOf(tool);
  const config = configChanges(before.config, entered.config);
  return {
    ...(entered.name !== before.name ? { name: entered.name } : {}),
    ...(entered.description !== before.description ? { description: entered.description } : {}),
    ...(entered.category !== before.category ? { category: entered.category as ToolCreate["category"] } : {}),
    ...(Object.keys(config).length ? { config } : {}),
    ...(entered.authType !== before.authType ? { auth_type: entered.authType } : {}),
    ...(entered.authConfig ? { auth_config: entered.authConfig } : {}),
    ...(isSame(entered.inputSchema, before.inputSchema)
      ? {}
      : { input_schema: (entered.inputSchema ?? null) as JsonValues | null }),
    ...(entered.requiresApproval !== before.requiresApproval ? { requires_approval: entered.requiresApproval } : {}),
    ...(isSame(entered.approval, before.approval) ? {} : { approval: entered.approval }),
  };
}

export const newToolOf = (entered: Definition): ToolCreate => ({
  name: entered.name.trim(),
  description: entered.description,
  category: entered.category as ToolCreate["category"],
  tool_type: entered.type,
  config: entered.config,
  auth_type: entered.authType,
  ...(entered.authConfig ? { auth_config: entered.authConfig } : {}),
  ...(entered.inputSchema ? { input_schema: entered.inputSchema as JsonValues } : {}),
  requires_approval: entered.requiresApproval,
  ...(entered.approval ? { approval: entered.approval } : {}),
});
