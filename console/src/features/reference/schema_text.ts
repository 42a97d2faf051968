import { type ApiDocument, type ApiSchema, resolveReference } from "./document";

type Reader = { document: ApiDocument };

/** The kinds that a schema leaves open; that it may also be null is said by its type. */
export const listChoices = (schema: ApiSchema): ApiSchema[] | undefined =>
  (schema.anyOf ?? schema.oneOf)?.filter((option) => option.type !== "null");

/** What a list or a map consists of. */
export function findItemSchema({ items, properties, additionalProperties }: ApiSchema): ApiSchema | undefined {
  if (items) return items;
  return !properties && typeof additionalProperties === "object" ? additionalProperties : undefined;
}

/** The type in a few signs: `AgentOut`, `string | null`, `integer[]`. */
export function formatSchemaType(document: ApiDocument, schema: ApiSchema): string {
  const values = resolveReference(document, schema).enum;
  if (schema.$ref) return schema.$ref.split("/").pop() ?? "";
  if (values) return "enum";
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return options.map((option) => formatSchemaType(document, option)).join(" | ");
  if (schema.contentMediaType) return "file";
  const item = findItemSchema(schema);
  const name = item && formatSchemaType(document, item);
  if (schema.type === "array") return name ? `${name.includes(" | ") ? `(${name})` : name}[]` : "array";
  return name ? `{ …: ${name} }` : (schema.type ?? "any");
}

function formatRange(least: number | undefined, most: number | undefined, unit = ""): string | undefined {
  if (least !== undefined && most !== undefined) return `${least}–${most}${unit}`;
  if (least !== undefined) return `≥ ${least}${unit}`;
  return most === undefined ? undefined : `≤ ${most}${unit}`;
}

/** What a value must keep to, beside its type. `units` are the words for characters and entries. */
export function listLimits(schema: ApiSchema, units: { characters: string; entries: string }): string[] {
  const choices = listChoices(schema);
  const found = [
    schema.format,
    formatRange(schema.minimum, schema.maximum),
    schema.exclusiveMinimum !== undefined && `> ${schema.exclusiveMinimum}`,
    schema.exclusiveMaximum !== undefined && `< ${schema.exclusiveMaximum}`,
    formatRange(schema.minLength, schema.maxLength, ` ${units.characters}`),
    formatRange(schema.minItems, schema.maxItems, ` ${units.entries}`),
    schema.pattern && `/${schema.pattern}/`,
    schema.default !== undefined && schema.default !== null && `= ${JSON.stringify(schema.default)}`,
  ].filter((one): one is string => Boolean(one));
  return choices?.length === 1 && choices[0] ? [...found, ...listLimits(choices[0], units)] : found;
}

/** The schema whose fields are shown for this one: behind references, lists and "or null". */
export function findFieldSchema(document: ApiDocument, schema: ApiSchema, depth = 0): ApiSchema | undefined {
  const shape = resolveReference(document, schema);
  if (depth > 12) return undefined;
  if (shape.properties && Object.keys(shape.properties).length > 0) return shape;
  const item = findItemSchema(shape);
  if (item) return findFieldSchema(document, item, depth + 1);
  const choices = listChoices(shape);
  return choices?.length === 1 && choices[0] ? findFieldSchema(document, choices[0], depth + 1) : undefined;
}

/** The kinds to choose from, if there are several with fields or names of their own. */
export function listVariants(document: ApiDocument, schema: ApiSchema): [name: string, variant: ApiSchema][] {
  const shape = resolveReference(document, schema);
  const configs = Object.entries(shape["x-config-schemas"] ?? {});
  if (configs.length) return configs;
  const choices = listChoices(shape) ?? [];
  if (choices.length < 2 || !choices.some((one) => findFieldSchema(document, one))) return [];
  return choices.map((one) => [formatSchemaType(document, one), one]);
}

/** The values of an enumeration with what they mean. */
export function listEnumValues(document: ApiDocument, schema: ApiSchema): [value: string, meaning?: string][] {
  const shape = resolveReference(document, schema);
  const only = listChoices(shape);
  if (!shape.enum) return only?.length === 1 && only[0] ? listEnumValues(document, only[0]) : [];
  const meanings = shape["x-enum-descriptions"] ?? {};
  return shape.enum.map((value) => [JSON.stringify(value), meanings[String(value)]]);
}

const EMPTY: Record<string, unknown> = { object: {}, array: [], boolean: false, string: "", integer: 0, number: 0 };

/** A plausible value: the first example, else the default, else one of its type. A recursive schema ends in null. */
export function exampleValue(reader: Reader, schema: ApiSchema, seen: readonly string[] = []): unknown {
  if (schema.examples?.length) return schema.examples[0];
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (schema.$ref) {
    if (seen.includes(schema.$ref)) return null;
    return exampleValue(reader, resolveReference(reader.document, schema), [...seen, schema.$ref]);
  }
  if (schema.enum) return schema.enum[0];
  const choice = listChoices(schema)?.find(({ $ref }) => !$ref || !seen.includes($ref));
  if (choice) return exampleValue(reader, choice, seen);
  if (schema.properties)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, exampleValue(reader, field, seen)]),
    );
  if (schema.type === "array" && schema.items && !(schema.items.$ref && seen.includes(schema.items.$ref)))
    return [exampleValue(reader, schema.items, seen)];
  return schema.minimum ?? EMPTY[schema.type ?? ""] ?? null;
}

/** What a request needs and nothing more: the required fields of the body with plausible values. */
export function requiredExample(reader: Reader, schema: ApiSchema): unknown {
  const shape = resolveReference(reader.document, schema);
  if (!shape.properties) return exampleValue(reader, schema);
  const names = shape.required ?? [];
  return Object.fromEntries(
    Object.entries(shape.properties)
      .filter(([name]) => names.includes(name))
      .map(([name, field]) => [name, exampleValue(reader, field)]),
  );
}
