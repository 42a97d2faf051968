import { createTranslator } from "../i18n/words";
import { isLabelledSetting, settingLabel } from "./labels";
import { diffLines, type Line } from "./lines";
import type { Difference } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "shared/versions");

/** What a person reads of one difference: lines of a long text, something new or gone, or before and after. */
export type VersionChange = { path: string; kind: "tool" | "sub" | "field"; label: string } & (
  | { shape: "lines"; lines: Line[] }
  | { shape: "added" | "removed"; about: string }
  | { shape: "value"; from: string; to: string }
);
type Listed = Record<string, unknown> & { name?: string };

const isLongText = (value: unknown) => typeof value === "string" && (value.length > 60 || value.includes("\n"));
const isListedObject = (value: unknown): value is Listed => typeof value === "object" && value !== null;

const describeField = (field: string) => (isLabelledSetting(field) ? settingLabel(field) : field.replaceAll("_", " "));

export function describeValue(value: unknown): string {
  if (value === true) return say("on");
  if (value === false) return say("off");
  if (value === null || value === undefined || value === "") return say("nothing");
  if (Array.isArray(value)) return value.length ? value.map(describeValue).join(", ") : say("nothing");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const describeNames = (ids: unknown, names: Record<string, string>) =>
  describeValue(Array.isArray(ids) ? ids.map((id: string) => names[id] ?? id) : ids);

/** What is said of a tool or sub-agent that came or went. */
function describeListed(listed: Listed): string {
  const parts = [];
  if (listed.requires_approval === true) parts.push(say("asksFirst"));
  if (listed.is_enabled === false) parts.push(say("off"));
  if (listed.delegation_prompt) parts.push(String(listed.delegation_prompt));
  return parts.join(", ");
}

export function describeDifference({ path, from, to }: Difference, names: Record<string, string>): VersionChange {
  const [list = "", id = "", ...rest] = path.split(".");
  const kind = list === "tools" ? "tool" : list === "sub_agents" ? "sub" : "field";
  const name = names[id] ?? id;
  if (path === "sub_agents.order")
    return {
      path,
      kind,
      label: say("subAgentOrder"),
      shape: "value",
      from: describeNames(from, names),
      to: describeNames(to, names),
    };
  if (kind !== "field" && !rest.length) {
    const listed = isListedObject(to) ? to : isListedObject(from) ? from : {};
    return {
      path,
      kind,
      label: listed.name ?? name,
      shape: isListedObject(to) ? "added" : "removed",
      about: describeListed(listed),
    };
  }
  const fields = (kind === "field" ? [list, ...(id ? [id] : []), ...rest] : rest).map(describeField).join(" · ");
  const label = kind === "field" ? fields : `${name} · ${fields}`;
  if (isLongText(from) || isLongText(to))
    return { path, kind, label, shape: "lines", lines: diffLines(String(from ?? ""), String(to ?? "")) };
  return { path, kind, label, shape: "value", from: describeValue(from), to: describeValue(to) };
}

/** Instructions first, then tools and sub-agents, then the rest. The status and the names of tools are no news. */
export function describeVersionChanges(differences: Difference[], names: Record<string, string>): VersionChange[] {
  const rankChange = ({ path, kind }: VersionChange) => (path === "system_prompt" ? 0 : kind === "field" ? 2 : 1);
  return differences
    .filter(({ path }) => !/^tools\.[^.]+\.name$/.test(path))
    .map((difference) => describeDifference(difference, names))
    .sort((a, b) => rankChange(a) - rankChange(b));
}
