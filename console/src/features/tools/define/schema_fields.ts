import type { JsonValues } from "../queries";

export type SchemaField = {
  name: string;
  kind: "text" | "number" | "boolean" | "choice" | "list" | "json";
  isRequired: boolean;
  description?: string;
  choices: string[];
  /** What applies if the field is left empty. */
  preset?: string;
};

const isObject = (value: unknown): value is JsonValues =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The type of a schema that may also be null. */
function findPlainSchema(schema: JsonValues): JsonValues {
  const choices = (schema.anyOf ?? schema.oneOf) as unknown;
  const others = Array.isArray(choices) ? choices.filter((one) => isObject(one) && one.type !== "null") : [];
  return others.length === 1 ? { ...schema, ...others[0] } : schema;
}

function findFieldKind(schema: JsonValues): SchemaField["kind"] {
  if (Array.isArray(schema.enum)) return schema.enum.every((one) => typeof one === "string") ? "choice" : "json";
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
  if (type === "string") return "text";
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean") return "boolean";
  const items = schema.items;
  if (type === "array" && isObject(items) && (items.type === "string" || Array.isArray(items.enum))) return "list";
  return "json";
}

/** A field for each property of an object's JSON Schema, in its order; what no field can hold is entered as JSON. */
export function readSchemaFields(schema: unknown): SchemaField[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, property]) => {
    const plain = findPlainSchema(isObject(property) ? property : {});
    const items = isObject(plain.items) ? plain.items : {};
    const choices = plain.enum ?? items.enum;
    const preset = plain.default;
    return {
      name,
      kind: findFieldKind(plain),
      isRequired: required.includes(name),
      description: typeof plain.description === "string" ? plain.description.replaceAll("`", "") : undefined,
      choices: Array.isArray(choices) ? choices.map(String) : [],
      preset: preset === undefined || preset === null ? undefined : [preset].flat().join(", "),
    };
  });
}
