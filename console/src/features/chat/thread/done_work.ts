import { formatFieldLabel } from "../../../shared/approvals/field_label";
import type { ToolCall, Turn } from "../../../shared/chat/chat";
import { createTranslator } from "../../../shared/i18n/words";
import { formatDuration } from "../../../shared/time";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");
const DELEGATION = "delegate_to_";
const DONE = ["completed", "success"];
const WAITING = "awaiting_approval";
/** Functions that every agent may have. */
const OWN: Record<string, [doing: keyof typeof en, done: keyof typeof en]> = {
  web_search: ["searchesWeb", "searchedWeb"],
  read_attachment: ["readsFile", "readFile"],
  recall: ["looksBack", "lookedBack"],
};

/** The name of a tool's function for people: "orders__look_up" is "look up". */
const nameTool = (tool: string) => formatFieldLabel(tool.split("__").at(-1) ?? tool);

/** Whether a person rejected a call, or nobody decided in time: then nothing was done. */
const isUndone = ({ status, approvalId }: ToolCall): boolean =>
  status === "denied" || (status === "timeout" && Boolean(approvalId));

function describeCall(call: ToolCall, isDone: boolean): string {
  const { tool } = call;
  if (isUndone(call)) return say("didNotRun", { name: nameTool(tool) });
  const own = OWN[tool];
  if (own) return say(own[isDone ? 1 : 0]);
  if (tool.startsWith(DELEGATION))
    return say(isDone ? "askedAgent" : "asksAgent", { name: formatFieldLabel(tool.slice(DELEGATION.length)) });
  return say(isDone ? "usedTool" : "usesTool", { name: nameTool(tool) });
}

export type WorkStep = { text: string; outcome: string };
/** How the work as a whole went: it runs, something came of it, or nothing did. */
export type DoneWork = { line: string; state: "live" | "done" | "undone"; steps: WorkStep[] };

function describeOutcome(call: ToolCall): string {
  if (DONE.includes(call.status)) return call.tookMs === undefined ? "" : formatDuration(call.tookMs);
  if (call.status === "running") return say("stillRuns");
  if (isUndone(call)) return say(call.status === "denied" ? "wasRejected" : "wasNotDecided");
  return say("didNotWork");
}

/** A call that has ended, in the one line: what did not work is not said as if it had. */
function describeEnded(call: ToolCall): string {
  const text = describeCall(call, true);
  return DONE.includes(call.status) || isUndone(call) ? text : `${text} (${say("didNotWork")})`;
}

/** What an agent did for a reply: one line in words, and the steps behind it. No inputs, tokens and costs. */
export function describeWork({ calls }: Pick<Turn, "calls">): DoneWork | undefined {
  const begun = calls.filter((call) => call.status !== WAITING);
  if (!begun.length) return;
  const running = begun.findLast((call) => call.status === "running");
  const steps = begun.map((call) => ({ text: describeCall(call, call !== running), outcome: describeOutcome(call) }));
  if (running) return { line: describeCall(running, false), state: "live", steps };
  const state = begun.some((call) => DONE.includes(call.status)) ? "done" : "undone";
  return { line: joinInSentence([...new Set(begun.map(describeEnded))]), state, steps };
}

/** Texts as one: "Searched the web, used Look up". */
const joinInSentence = (texts: string[]): string =>
  texts.map((text, at) => (at ? text.charAt(0).toLowerCase() + text.slice(1) : text)).join(", ");

/** What had been done when a reply failed; nothing if nothing had. */
export const listDoneCalls = ({ calls }: Pick<Turn, "calls">): string =>
  joinInSentence([
    ...new Set(calls.filter((call) => DONE.includes(call.status)).map((call) => describeCall(call, true))),
  ]);
