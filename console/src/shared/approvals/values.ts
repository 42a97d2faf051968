import { formatEveryDigit, readNumberText, writeNumberText } from "../number_text";
import type { Approval } from "./queries";

export type Control = "line" | "lines" | "number" | "flag" | "json";
export type Field = { name: string; value: unknown; control: Control; isOpen: boolean };
export type FieldChange = { name: string; before: string; after: string };
type EditProblem = "number" | "json";
export type ApprovalEdits = {
  edited?: Record<string, unknown>;
  problems: Record<string, EditProblem>;
  changes: FieldChange[];
};

const MAX_LINE_LENGTH = 60;
const ANY_FIELD = "*";
/** Fields of a tool call's payload that are shown elsewhere. */
const CALL_FIELDS = ["tool", "function", "input", "message"];

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value as it is typed into its field; numbers have the decimal mark of the language. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return writeNumberText(value);
  return typeof value === "string" ? value : JSON.stringify(value, null, isPlainObject(value) ? 2 : 0);
}

/** A value as it is read: what is approved, not how it was typed. */
const formatReadValue = (value: unknown) => (typeof value === "number" ? formatEveryDigit(value) : formatValue(value));

function chooseControl(value: unknown): Control {
  if (typeof value === "boolean") return "flag";
  if (typeof value === "number") return "number";
  if (typeof value !== "string" && value !== null) return "json";
  const text = formatValue(value);
  return text.includes("\n") || text.length > MAX_LINE_LENGTH ? "lines" : "line";
}

function readRequestedInput(approval: Approval): Record<string, unknown> {
  const payload = (approval.payload ?? {}) as Record<string, unknown>;
  return isPlainObject(payload.input)
    ? payload.input
    : Object.fromEntries(Object.entries(payload).filter(([name]) => !CALL_FIELDS.includes(name)));
}

/** The tool and the function that a call runs; requests of an older server have it with the tool before it only. */
export function findRequestedCall(approval: Pick<Approval, "payload">): { tool: string; name: string } | undefined {
  const { tool, function: called, function_name: name = called } = (approval.payload ?? {}) as Record<string, unknown>;
  if (typeof tool !== "string" || typeof name !== "string" || !name) return;
  return { tool, name };
}

/** What approvers have changed so far. */
export function listFieldChanges(approval: Approval): FieldChange[] {
  const asked = readRequestedInput(approval);
  return Object.entries(approval.edited_input ?? {}).map(([name, value]) => ({
    name,
    before: formatReadValue(asked[name]),
    after: formatReadValue(value),
  }));
}

/** The values that were asked for, with the edits of earlier approvers; after the first approval none is open. */
export function listApprovalFields(approval: Approval): Field[] {
  const values: Record<string, unknown> = { ...readRequestedInput(approval), ...approval.edited_input };
  const isWaiting = approval.status === "pending" && approval.approvals_received === 0;
  const isAny = approval.editable_fields.includes(ANY_FIELD);
  const missing = approval.editable_fields.filter((name) => name !== ANY_FIELD && !(name in values));
  return [...Object.keys(values), ...missing].map((name) => ({
    name,
    value: values[name] ?? null,
    control: chooseControl(values[name] ?? null),
    isOpen: isWaiting && (isAny || approval.editable_fields.includes(name)),
  }));
}

/** Read the texts of the open fields back into their types; only what differs is sent. */
export function collectEdits(fields: Field[], texts: Record<string, string>): ApprovalEdits {
  const edits: ApprovalEdits = { problems: {}, changes: [] };
  for (const { name, value, control, isOpen } of fields) {
    const text = texts[name];
    if (!isOpen || text === undefined || text === formatValue(value)) continue;
    const parsed = parseEditedText(text, value, control);
    if (parsed.problem) {
      edits.problems[name] = parsed.problem;
      continue;
    }
    edits.edited = { ...edits.edited, [name]: parsed.value };
    edits.changes.push({ name, before: formatReadValue(value), after: formatReadValue(parsed.value) });
  }
  return edits;
}

type ParsedText = { value?: unknown; problem?: EditProblem };

function parseEditedText(text: string, before: unknown, control: Control): ParsedText {
  if (typeof before === "string") return { value: text };
  if (control === "number") {
    const number = readNumberText(text);
    return number === undefined ? { problem: "number" } : { value: number };
  }
  return before === null ? parseFirstText(text) : (parseJsonText(text) ?? { problem: "json" });
}

/** The text of a field that had no value, and so no type. A number with a leading zero is rather a code. */
function parseFirstText(text: string): ParsedText {
  const number = /^\s*[-+]?0\d/.test(text) ? undefined : readNumberText(text);
  if (number !== undefined) return { value: number };
  const parsed = parseJsonText(text) ?? { value: text };
  // What only a program reads as a number could mean another one here.
  return typeof parsed.value === "number" ? { problem: "number" } : parsed;
}

function parseJsonText(text: string): ParsedText | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** The amount that the button repeats, if the call is about one: the number that is sent. */
export function findAmount(fields: Field[], texts: Record<string, string>): string {
  const field = fields.find((one) => /^(amount|total|price|sum)$/i.test(one.name) && one.control === "number");
  const text = field && texts[field.name];
  const amount = text === undefined ? field?.value : readNumberText(text);
  return typeof amount === "number" ? formatEveryDigit(amount) : "";
}
