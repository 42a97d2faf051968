// The server's conditions, so that fields appear and disappear while someone writes. The server has the last word.

const NUMBER = /^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)(e[+-]?\d+(_\d+)*)?$/i;
const ENDLESS = /^([+-]?)(inf|infinity)$/i;

/** Parse a number like the server; null if it is none. */
function asNumber(value) {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return null;
  const text = value.trim();
  if (NUMBER.test(text)) return Number(text.replaceAll("_", ""));
  const endless = ENDLESS.exec(text);
  if (endless) return endless[1] === "-" ? -Infinity : Infinity;
  return /^[+-]?nan$/i.test(text) ? NaN : null;
}

function isSame(one, other) {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isSame(item, other[at]));
  }
  if (one && other && typeof one === "object" && typeof other === "object" && !Array.isArray(one) && !Array.isArray(other)) {
    const names = Object.keys(one);
    return names.length === Object.keys(other).length && names.every((name) => name in other && isSame(one[name], other[name]));
  }
  return one === other;
}

/** Upper case first turns ß into ss, as the server's case folding does. */
function folded(text) {
  return text.toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

function equals(found, wanted) {
  if (typeof found === "boolean" || typeof wanted === "boolean") return found === wanted;
  if (Array.isArray(found) && !Array.isArray(wanted)) return found.some((one) => isSame(one, wanted));
  return isSame(found, wanted) || (typeof found === "number" && typeof wanted === "string" && asNumber(wanted) === found);
}

function contains(found, wanted) {
  if (typeof found === "string") return typeof wanted === "string" && folded(found).includes(folded(wanted));
  return Array.isArray(found) && found.some((one) => isSame(one, wanted));
}

function isIn(found, wanted) {
  return Array.isArray(wanted) && wanted.some((one) => equals(found, one));
}

function isEmpty(found) {
  if (found === null || found === "") return true;
  return typeof found === "object" && Object.keys(found).length === 0;
}

function ordered(compare) {
  return (found, wanted) => {
    const [one, other] = [asNumber(found), asNumber(wanted)];
    if (one !== null && other !== null) return compare(one, other);
    return typeof found === "string" && typeof wanted === "string" && compare(found, wanted);
  };
}

const OPERATORS = {
  equals,
  not_equals: (found, wanted) => !equals(found, wanted),
  contains,
  not_contains: (found, wanted) => !contains(found, wanted),
  greater_than: ordered((found, wanted) => found > wanted),
  less_than: ordered((found, wanted) => found < wanted),
  greater_or_equal: ordered((found, wanted) => found >= wanted),
  less_or_equal: ordered((found, wanted) => found <= wanted),
  in: isIn,
  not_in: (found, wanted) => !isIn(found, wanted),
  is_empty: isEmpty,
  is_not_empty: (found) => !isEmpty(found),
};

function holds(condition, values) {
  if (condition.all) return condition.all.every((inner) => holds(inner, values));
  if (condition.any) return condition.any.some((inner) => holds(inner, values));
  let found = values.get(condition.field) ?? null;
  let wanted = condition.value ?? null;
  // An untouched checkbox counts as not ticked.
  if (found === null && typeof wanted === "boolean") found = false;
  if (typeof found === "boolean" && typeof wanted === "string" && /^(true|false)$/i.test(wanted)) {
    wanted = wanted.toLowerCase() === "true";
  }
  return OPERATORS[condition.operator ?? "equals"](found, wanted);
}

/** Return the ids of the fields to show. Hidden fields have no value in the conditions of others. */
function visibleFields(fields, values) {
  let shown = new Set(fields.map((field) => field.id));
  for (let round = 0; round < 10; round += 1) {
    const seen = new Map([...values].filter(([id]) => shown.has(id)));
    const now = new Set(fields.filter((field) => !field.conditional || holds(field.conditional, seen)).map((field) => field.id));
    if (now.size === shown.size && [...now].every((id) => shown.has(id))) break;
    shown = now;
  }
  return shown;
}
