import { words } from "../i18n/words";
import { isLabelled, settingLabel } from "./labels";
import { diffLines, type Line } from "./lines";
import type { Difference } from "./queries";
import en from "./words.en.json";

const say = words(en, "shared/versions");

/** What a person reads of one difference: lines of a long text, something new or gone, or before and after. */
export type VersionChange = { path: string; kind: "tool" | "sub" | "field"; label: string } & (
  | { shape: "lines"; lines: Line[] }
  | { shape: "added" | "removed"; about: string }
  | { shape: "value"; from: string; to: string }
);
type Listed = Record<string, unknown> & { name?: string };

const isLong = (value: unknown) => typeof value === "string" && (value.length > 60 || value.includes("\n"));
const isListed = (value: unknown): value is Listed => typeof value === "object" && value !== null;

const fieldWord = (field: string) => (isLabelled(field) ? settingLabel(field) : field.replaceAll("_", " "));

export function valueWord(value: unknown): string {
  if (value === true) return say("on");
  if (value === false) return say("off");
  if (value === null || value === undefined || value === "") return say("nothing");
  if (Array.isArray(value)) return value.length ? value.map(valueWord).join(", ") : say("nothing");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const nameWords = (ids: unknown, names: Record<string, string>) =>
  valueWord(Array.isArray(ids) ? ids.map((id: string) => names[id] ?? id) : ids);

/** What is said of a tool or sub-agent that came or went. */
function about(of: Listed): string {
  const parts = [];
  if (of.requires_approval === true) parts.push(say("asksFirst"));
  if (of.is_enabled === false) parts.push(say("off"));
  if (of.delegation_prompt) parts.push(String(of.delegation_prompt));
  return parts.join(", ");
}

export function changeOf({ path, from, to }: Difference, names: Record<string, string>): VersionChange {
  const [list = "", id = "", ...rest] = path.split(".");
  const kind = list === "tools" ? "tool" : list === "sub_agents" ? "sub" : "field";
  const name = names[id] ?? id;
  if (path === "sub_agents.order")
    return {
      path,
      kind,
      label: say("subAgentOrder"),
      shape: "value",
      from: nameWords(from, names),
      to: nameWords(to, names),
    };
  if (kind !== "field" && !rest.length) {
    const listed = isListed(to) ? to : isListed(from) ? from : {};
    return { path, kind, label: listed.name ?? name, shape: isListed(to) ? "added" : "removed", about: about(listed) };
  }
  const fields = (kind === "field" ? [list, ...(id ? [id] : []), ...rest] : rest).map(fieldWord).join(" · ");
  const label = kind === "field" ? fields : `${name} · ${fields}`;
  if (isLong(from) || isLong(to))
    return { path, kind, label, shape: "lines", lines: diffLines(String(from ?? ""), String(to ?? "")) };
  return { path, kind, label, shape: "value", from: valueWord(from), to: valueWord(to) };
}

/** Instructions first, then tools and sub-agents, then the rest. The status and the names of tools are no news. */
export function versionChanges(differences: Difference[], names: Record<string, string>): VersionChange[] {
  const rank = ({ path, kind }: VersionChange) => (path === "system_prompt" ? 0 : kind === "field" ? 2 : 1);
  return differences
    .filter(({ path }) => !/^tools\.[^.]+\.name$/.test(path))
    .map((difference) => changeOf(difference, names))
    .sort((a, b) => rank(a) - rank(b));
}
