import type { JsonValues, Tool } from "../queries";

/** One thing that a tool can be asked to do, with the schema of its values. */
export type Callable = {
  name: string;
  schema: unknown;
  /** A model's call of it waits for a person. */
  asksFirst: boolean;
  toInput: (values: JsonValues) => JsonValues;
};

const isRecord = (value: unknown): value is Record<string, JsonValues> => typeof value === "object" && value !== null;

/** The schema of a request without one of its own: the placeholders of its path. */
function pathSchema(path: unknown): JsonValues {
  const names = [...String(path ?? "").matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: names,
  };
}

/** The functions of a tool: its endpoints, those of its MCP server, or the tool itself under an empty name. */
export function listCallables({
  tool_type,
  config,
  input_schema,
}: Pick<Tool, "tool_type" | "config" | "input_schema">) {
  if (tool_type === "rest_api" && isRecord(config.endpoints))
    return Object.entries(config.endpoints).map(
      ([name, endpoint]): Callable => ({
        name,
        schema: endpoint.input_schema ?? pathSchema(endpoint.path),
        asksFirst: endpoint.requires_approval === true,
        toInput: (values) => ({ endpoint: name, ...values }),
      }),
    );
  if (config.kind === "mcp" && isRecord(config.functions))
    return Object.entries(config.functions).map(
      ([name, described]): Callable => ({
        name,
        schema: described.input_schema,
        asksFirst: described.requires_approval === true,
        toInput: (values) => ({ function: name, arguments: values }),
      }),
    );
  return [{ name: "", schema: input_schema, asksFirst: false, toInput: (values: JsonValues) => values }];
}

/** Which function an input is for, and its values; the opposite of `toInput`. */
export function splitInput(callables: Callable[], input: JsonValues): { name: string; values: JsonValues } {
  const { endpoint, function: called, arguments: values, ...rest } = input;
  const name = [endpoint, called].find((one) => callables.some((callable) => callable.name && callable.name === one));
  if (typeof name !== "string") return { name: callables[0]?.name ?? "", values: input };
  return { name, values: name === called && isRecord(values) ? values : rest };
}
