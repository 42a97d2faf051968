import type { EventData, EventKind } from "../queries";
import { isSameJson } from "./matching";

export const COMPARISONS = ["eq", "in", "ne", "gt", "gte", "lt", "lte", "contains", "exists"] as const;
export type Comparison = (typeof COMPARISONS)[number];
/** A condition as people write it: all of it is text until it is sent. */
export type ConditionRow = { key: number; path: string; comparison: Comparison; value: string };

const isComparison = (name: string): name is Comparison => COMPARISONS.some((one) => one === name);
const isObject = (value: unknown): value is EventData =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value as text: a text as it is, unless it would be read as something else. */
export function writeScalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return typeof readScalar(value) === "string" && !value.startsWith('"') ? value : JSON.stringify(value);
}

/** The value that a text means: a number, true, false, null, a text in quotes, or the text itself. */
export function readScalar(text: string): unknown {
  const trimmed = text.trim();
  if (/^(true|false|null|-?\d+(\.\d+)?|".*")$/.test(trimmed))
    try {
      return JSON.parse(trimmed);
    } catch {
      return text;
    }
  return text;
}

/** A text in quotes up to a comma or the end, or anything up to a comma. */
const LISTED_VALUE = /\s*"(?:[^"\\]|\\.)*"\s*(?=,|$)|[^,]+/g;

/** The values of "is one of"; one with a comma stands in quotes. */
const splitValues = (text: string) =>
  (text.match(LISTED_VALUE) ?? []).flatMap((one) => (one.trim() ? [readScalar(one.trim())] : []));

const writeListedValue = (value: unknown) =>
  typeof value === "string" && (value.includes(",") || value.trim() !== value || !value)
    ? JSON.stringify(value)
    : writeScalar(value);

let lastKey = 0;
export const emptyCondition = (): ConditionRow => ({ key: ++lastKey, path: "", comparison: "eq", value: "" });

/** The conditions of a subscription, one in a row. */
export function listConditions(filters: EventData): ConditionRow[] {
  const rowOf = (path: string, comparison: Comparison, value: string) => ({ key: ++lastKey, path, comparison, value });
  return Object.entries(filters).flatMap(([path, expected]) => {
    if (Array.isArray(expected)) return [rowOf(path, "in", expected.map(writeListedValue).join(", "))];
    if (!isObject(expected)) return [rowOf(path, "eq", writeScalar(expected))];
    return Object.entries(expected).flatMap(([name, value]) =>
      isComparison(name) ? [rowOf(path, name, writeScalar(value))] : [],
    );
  });
}

/** The rows as the server takes them; several comparisons of one path are one object. */
export function filtersFromRows(rows: readonly ConditionRow[]): EventData {
  const filters: EventData = {};
  for (const { path, comparison, value } of rows) {
    const name = path.trim();
    if (!name) continue;
    if (comparison === "in") {
      filters[name] = splitValues(value);
      continue;
    }
    const expected = comparison === "exists" ? value !== "false" : readScalar(value);
    const before = filters[name];
    const known = before === undefined ? {} : isObject(before) ? before : Array.isArray(before) ? {} : { eq: before };
    filters[name] = comparison === "eq" && before === undefined ? expected : { ...known, [comparison]: expected };
  }
  return filters;
}

/** Whether rows can say these conditions; lists and objects to compare with are written as JSON. */
export const fitsConditionRows = (filters: EventData): boolean =>
  isSameJson(filtersFromRows(listConditions(filters)), filters);

export type RowProblem = "withoutField" | "saidTwice" | "besideList";

/** Why a row cannot be stored beside those before it: a field has each comparison once, and a list alone. */
export function findRowProblem(rows: readonly ConditionRow[], row: ConditionRow): RowProblem | undefined {
  const path = row.path.trim();
  if (!path) return row.value.trim() ? "withoutField" : undefined;
  const before = rows.slice(0, rows.indexOf(row)).filter((one) => one.path.trim() === path);
  if (before.some(({ comparison }) => comparison === row.comparison)) return "saidTwice";
  return [row, ...before].some(({ comparison }) => comparison === "in") && before.length ? "besideList" : undefined;
}

function listSchemaPaths(schema: unknown, path: string, depth: number): string[] {
  if (!isObject(schema) || depth > 3) return [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).flatMap(([name, inner]) => {
    const own = path ? `${path}.${name}` : name;
    return [own, ...listSchemaPaths(inner, own, depth + 1)];
  });
}

function listDataPaths(data: unknown, path: string, depth: number): string[] {
  if (!isObject(data) || depth > 3) return path ? [path] : [];
  return Object.entries(data).flatMap(([name, value]) =>
    listDataPaths(value, path ? `${path}.${name}` : name, depth + 1),
  );
}

/** Paths to choose from: those of the type's schema, and those that its last events have. */
export const listFieldPaths = (kind: EventKind | undefined, events: readonly { data: EventData }[]): string[] => [
  ...new Set([...listSchemaPaths(kind?.schema, "", 0), ...events.flatMap(({ data }) => listDataPaths(data, "", 0))]),
];
