import type { EventData } from "../queries";

/** Whether the server would match an event; `matching.cases.json` holds both to the same rules. */
const ABSENT = Symbol("absent");
const isObject = (value: unknown): value is EventData =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const MAX_INDEX_LENGTH = 6;

export const matchesEventType = (pattern: string, type: string) =>
  pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : pattern === type;

function walkPath(data: unknown, path: string): unknown {
  let value = data;
  for (const name of path.split(".")) {
    if (isObject(value)) value = Object.hasOwn(value, name) ? value[name] : ABSENT;
    else if (Array.isArray(value) && /^[0-9]+$/.test(name) && name.length <= MAX_INDEX_LENGTH)
      value = Number(name) < value.length ? value[Number(name)] : ABSENT;
    else return ABSENT;
  }
  return value;
}

/** The value at a path; a leading `data.` is optional, but may also be a field of that name. */
function valueAtPath(data: unknown, path: string): unknown {
  if (path.startsWith("data.")) {
    const value = walkPath(data, path.slice("data.".length));
    if (value !== ABSENT) return value;
  }
  return walkPath(data, path);
}

export function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, place) => isSameJson(value, other[place]));
  if (isObject(one) && isObject(other)) {
    const names = Object.keys(one);
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
    );
  }
  return one === other;
}

// Texts are ordered by code points, as on the server, and not by the halves of surrogates.
const comparePoints = (one: string, other: string) => {
  const [left, right] = [[...one], [...other]];
  for (const [place, char] of left.entries()) {
    const against = right[place];
    if (against === undefined) return 1;
    const step = (char.codePointAt(0) ?? 0) - (against.codePointAt(0) ?? 0);
    if (step) return step;
  }
  return left.length - right.length;
};

const orderBy = (holds: (step: number) => boolean) => (actual: unknown, expected: unknown) => {
  if (typeof actual === "number" && typeof expected === "number") return holds(actual - expected);
  return typeof actual === "string" && typeof expected === "string" && holds(comparePoints(actual, expected));
};

const OPERATORS: Record<string, (actual: unknown, expected: unknown) => boolean> = {
  eq: isSameJson,
  ne: (actual, expected) => !isSameJson(actual, expected),
  gt: orderBy((step) => step > 0),
  gte: orderBy((step) => step >= 0),
  lt: orderBy((step) => step < 0),
  lte: orderBy((step) => step <= 0),
  contains: (actual, expected) =>
    typeof actual === "string"
      ? typeof expected === "string" && actual.includes(expected)
      : Array.isArray(actual) && actual.some((item) => isSameJson(item, expected)),
  exists: (actual, expected) => (actual !== ABSENT) === expected,
};

function holdsFor(expected: unknown, actual: unknown): boolean {
  if (isObject(expected))
    return Object.entries(expected).every(([name, value]) => OPERATORS[name]?.(actual, value) ?? false);
  if (Array.isArray(expected)) return expected.some((value) => isSameJson(actual, value));
  return isSameJson(actual, expected);
}

/** Whether all conditions hold for the data. */
export const matchesConditions = (filters: EventData, data: unknown): boolean =>
  Object.entries(filters).every(([path, expected]) => holdsFor(expected, valueAtPath(data, path)));
