import type { KindName } from "../../shared/marks/kind_icon";
import type { LoggedEvent } from "./queries";

const KINDS: [start: string, kind: KindName][] = [
  ["agent.document", "know"],
  ["agent.", "turn"],
  ["workflow.", "flow"],
  ["form.", "form"],
  ["approval.", "wait"],
  ["data_table.", "know"],
  ["system.tool", "tool"],
  ["system.webhook", "hook"],
  ["system.incoming", "hook"],
  ["system.user", "sub"],
];

/** The picture of an event: what it is about, or that something failed. */
export function eventKindOf({ type }: Pick<LoggedEvent, "type">): KindName {
  if (/(failed|disabled|refused)$/.test(type)) return "bad";
  return KINDS.find(([start]) => type.startsWith(start))?.[1] ?? "model";
}

const NAMING = ["name", "title", "email", "slug", "url", "message", "order_id", "reason"];
const isShort = (value: unknown): value is string | number =>
  (typeof value === "string" && value !== "") || typeof value === "number";

/** What an event is about, in a few words of its data: a name if there is one, else its first values. */
export function describeEvent({ data, source }: Pick<LoggedEvent, "data" | "source">): string {
  const named = NAMING.map((name) => data[name]).find(isShort);
  if (named !== undefined) return String(named);
  const rest = Object.entries(data).filter(
    ([name, value]) => isShort(value) && value !== source.id && !["tenant_id", "actor"].includes(name),
  );
  return rest.length
    ? rest
        .slice(0, 2)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ")
    : source.id;
}

const exactTime = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});
/** The time of day to the millisecond, as a log has it. */
export const formatLogTime = (at: string) => exactTime.format(new Date(at));
