import type { components } from "../../../api/schema";
import { describeValue, type VersionChange } from "../../../shared/versions/changes";
import { diffLines } from "../../../shared/versions/lines";

type Schemas = components["schemas"];
export type PlannedObject = Schemas["PlannedObject"];
type FieldDifference = Schemas["FieldChange"];
export type PlanCounts = Record<PlannedObject["action"], number>;

const isText = (value: unknown) => typeof value === "string" || value === undefined || value === null;
const isLong = (value: unknown) => typeof value === "string" && (value.length > 60 || value.includes("\n"));

export function countActions(objects: readonly PlannedObject[]): PlanCounts {
  const counts: PlanCounts = { create: 0, update: 0, delete: 0, unchanged: 0 };
  for (const { action } of objects) counts[action] += 1;
  return counts;
}

/** How many objects an apply would change in any way. */
export const countPlanned = ({ create, update, delete: removed }: PlanCounts) => create + update + removed;

/** What changes, by section in the order of the file; what stays as it is, is counted apart. */
export function groupBySection(objects: readonly PlannedObject[]): [section: string, objects: PlannedObject[]][] {
  const groups = new Map<string, PlannedObject[]>();
  for (const one of objects.filter(({ action }) => action !== "unchanged"))
    groups.set(one.section, [...(groups.get(one.section) ?? []), one]);
  return [...groups];
}

/** One field before and after: long texts by lines, everything else in one. */
export function describeFieldDifference({ path, from, to }: FieldDifference): VersionChange {
  const label = path.replaceAll("_", " ").replaceAll(".", " · ");
  if ((isLong(from) || isLong(to)) && isText(from) && isText(to))
    return { path, kind: "field", label, shape: "lines", lines: diffLines(String(from ?? ""), String(to ?? "")) };
  return { path, kind: "field", label, shape: "value", from: describeValue(from), to: describeValue(to) };
}

export type FileProblem = { place: string; text: string };

/** What the server found wrong with the file, object by object; empty if it said one sentence for all of it. */
export const listFileProblems = (details: Record<string, unknown>): FileProblem[] =>
  Object.entries(details)
    .filter((pair): pair is [string, string] => typeof pair[1] === "string" && /[/:.]|^retinue$/.test(pair[0]))
    .map(([place, text]) => ({ place, text }));
