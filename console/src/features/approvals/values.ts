import type { Approval } from "./queries";

export type Control = "line" | "lines" | "number" | "flag" | "json";
export type Field = { name: string; value: unknown; control: Control; isOpen: boolean };
export type FieldChange = { name: string; before: string; after: string };
export type ApprovalEdits = {
  edited?: Record<string, unknown>;
  problems: Record<string, string>;
  changes: FieldChange[];
};

const MAX_LINE_LENGTH = 60;
const ANY_FIELD = "*";
/** Fields of a tool call's payload that are shown elsewhere. */
const CALL_FIELDS = ["tool", "function", "input", "message"];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, isObject(value) ? 2 : 0);
}

function controlOf(value: unknown): Control {
  if (typeof value === "boolean") return "flag";
  if (typeof value === "number") return "number";
  if (typeof value !== "string" && value !== null) return "json";
  const text = textOf(value);
  return text.includes("\n") || text.length > MAX_LINE_LENGTH ? "lines" : "line";
}

function askedOf(approval: Approval): Record<string, unknown> {
  const payload = (approval.payload ?? {}) as Record<string, unknown>;
  return isObject(payload.input)
    ? payload.input
    : Object.fromEntries(Object.entries(payload).filter(([name]) => !CALL_FIELDS.includes(name)));
}

/** The tool and the function that a call runs; requests of an older server have it with the tool before it only. */
export function callOf(approval: Pick<Approval, "payload">): { tool: string; name: string } | undefined {
  const { tool, function: called, function_name: name = called } = (approval.payload ?? {}) as Record<string, unknown>;
  if (typeof tool !== "string" || typeof name !== "string" || !name) return;
  return { tool, name };
}

/** What approvers have changed so far. */
export function fieldChanges(approval: Approval): FieldChange[] {
  const asked = askedOf(approval);
  return Object.entries(approval.edited_input ?? {}).map(([name, value]) => ({
    name,
    before: textOf(asked[name]),
    after: textOf(value),
  }));
}

/** The values that were asked for, with the edits of earlier approvers; after the first approval none is open. */
export function fieldsOf(approval: Approval): Field[] {
  const values: Record<string, unknown> = { ...askedOf(approval), ...approval.edited_input };
  const isWaiting = approval.status === "pending" && approval.approvals_received === 0;
  const isAny = approval.editable_fields.includes(ANY_FIELD);
  const missing = approval.editable_fields.filter((name) => name !== ANY_FIELD && !(name in values));
  return [...Object.keys(values), ...missing].map((name) => ({
    name,
    value: values[name] ?? null,
    control: controlOf(values[name] ?? null),
    isOpen: isWaiting && (isAny || approval.editable_fields.includes(name)),
  }));
}

/** Read the texts of the open fields back into their types; only what differs is sent. */
export function editsOf(fields: Field[], texts: Record<string, string>): ApprovalEdits {
  const edits: ApprovalEdits = { problems: {}, changes: [] };
  for (const { name, value, control, isOpen } of fields) {
    const text = texts[name];
    if (!isOpen || text === undefined || text === textOf(value)) continue;
    const parsed = parseEdited(text, value, control);
    if (parsed === undefined) {
      edits.problems[name] = control === "number" ? "number" : "json";
      continue;
    }
    edits.edited = { ...edits.edited, [name]: parsed };
    edits.changes.push({ name, before: textOf(value), after: text });
  }
  return edits;
}

function parseEdited(text: string, before: unknown, control: Control): unknown {
  if (typeof before === "string") return text;
  if (control === "number") {
    const number = Number(text.replace(",", "."));
    return text.trim() && Number.isFinite(number) ? number : undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return before === null ? text : undefined;
  }
}

/** The amount that the button repeats, if the call is about one. */
export function amountOf(fields: Field[], texts: Record<string, string>): string {
  const field = fields.find((one) => /^(amount|total|price|sum)$/i.test(one.name) && one.control === "number");
  return field ? (texts[field.name] ?? textOf(field.value)) : "";
}

/** A name as a label: "order_number" becomes "Order number". */
export function labelOf(name: string): string {
  const words = name
    .replace(/[_-]+/g, " ")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .trim()
    .toLowerCase();
  return words ? words[0]?.toUpperCase() + words.slice(1) : name;
}
