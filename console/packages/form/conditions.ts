/* The server's conditions, so that fields appear and disappear while someone writes. The server has the last word. */

/** A comparison, or a group in `all` or `any`. */
export type Condition = {
  all?: Condition[];
  any?: Condition[];
  field?: string;
  operator?: keyof typeof OPERATORS;
  value?: unknown;
};

type Comparison = (actual: unknown, expected: unknown) => boolean;

const NUMBER = /^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)(e[+-]?\d+(_\d+)*)?$/i;
const INFINITE = /^([+-]?)(inf|infinity)$/i;
const NOT_A_NUMBER = /^[+-]?nan$/i;
/** Fields depend on each other in chains; a circle ends here, as it does on the server. */
const MAX_ROUNDS = 10;

/** Parse a number like the server; null if the value is none. */
function parseNumber(value: unknown): number | null {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return null;
  const text = value.trim();
  if (NUMBER.test(text)) return Number(text.replaceAll("_", ""));
  const infinite = INFINITE.exec(text);
  if (infinite) return infinite[1] === "-" ? -Infinity : Infinity;
  return NOT_A_NUMBER.test(text) ? Number.NaN : null;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isSameValue(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, at) => isSameValue(item, right[at]));
  if (isRecord(left) && isRecord(right)) {
    const names = Object.keys(left);
    const hasSameSize = names.length === Object.keys(right).length;
    return hasSameSize && names.every((name) => name in right && isSameValue(left[name], right[name]));
  }
  return left === right;
}

/** Fold the case of a text. Upper case first turns ß into ss, as the server's case folding does. */
export const foldCase = (text: string) => text.toUpperCase().toLowerCase().replaceAll("ς", "σ");

const equalsValue: Comparison = (actual, expected) => {
  if (typeof actual === "boolean" || typeof expected === "boolean") return actual === expected;
  if (Array.isArray(actual) && !Array.isArray(expected)) return actual.some((item) => isSameValue(item, expected));
  if (isSameValue(actual, expected)) return true;
  return typeof actual === "number" && typeof expected === "string" && parseNumber(expected) === actual;
};

const containsValue: Comparison = (actual, expected) => {
  if (typeof actual === "string") return typeof expected === "string" && foldCase(actual).includes(foldCase(expected));
  return Array.isArray(actual) && actual.some((item) => isSameValue(item, expected));
};

const isOneOfValues: Comparison = (actual, expected) =>
  Array.isArray(expected) && expected.some((item) => equalsValue(actual, item));

function isEmptyValue(actual: unknown): boolean {
  if (actual === null || actual === "") return true;
  return typeof actual === "object" && Object.keys(actual as object).length === 0;
}

const compareOrder =
  (compare: <Value extends number | string>(left: Value, right: Value) => boolean): Comparison =>
  (actual, expected) => {
    const [left, right] = [parseNumber(actual), parseNumber(expected)];
    if (left !== null && right !== null) return compare(left, right);
    return typeof actual === "string" && typeof expected === "string" && compare(actual, expected);
  };

const OPERATORS = {
  equals: equalsValue,
  not_equals: (actual, expected) => !equalsValue(actual, expected),
  contains: containsValue,
  not_contains: (actual, expected) => !containsValue(actual, expected),
  greater_than: compareOrder((left, right) => left > right),
  less_than: compareOrder((left, right) => left < right),
  greater_or_equal: compareOrder((left, right) => left >= right),
  less_or_equal: compareOrder((left, right) => left <= right),
  in: isOneOfValues,
  not_in: (actual, expected) => !isOneOfValues(actual, expected),
  is_empty: isEmptyValue,
  is_not_empty: (actual) => !isEmptyValue(actual),
} satisfies Record<string, Comparison>;

export function isConditionMet(condition: Condition, values: ReadonlyMap<string, unknown>): boolean {
  if (condition.all) return condition.all.every((inner) => isConditionMet(inner, values));
  if (condition.any) return condition.any.some((inner) => isConditionMet(inner, values));
  let actual = values.get(condition.field ?? "") ?? null;
  let expected = condition.value ?? null;
  // An untouched checkbox counts as not ticked.
  if (actual === null && typeof expected === "boolean") actual = false;
  if (typeof actual === "boolean" && typeof expected === "string" && /^(true|false)$/i.test(expected))
    expected = expected.toLowerCase() === "true";
  return OPERATORS[condition.operator ?? "equals"](actual, expected);
}

type ConditionalField = { id: string; conditional?: Condition | null };

/** Return the ids of the visible fields. Hidden fields have no value in the conditions of others. */
export function findVisibleFields(fields: ConditionalField[], values: ReadonlyMap<string, unknown>): Set<string> {
  let visible = new Set(fields.map((field) => field.id));
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const visibleValues = new Map([...values].filter(([id]) => visible.has(id)));
    const met = fields.filter(({ conditional }) => !conditional || isConditionMet(conditional, visibleValues));
    const next = new Set(met.map((field) => field.id));
    if (next.size === visible.size && [...next].every((id) => visible.has(id))) break;
    visible = next;
  }
  return visible;
}
