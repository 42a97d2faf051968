import type { components } from "../../api/schema";
import { describeFailureCode } from "../failures/failures";
import { createTranslator } from "../i18n/words";
import type { KindName } from "../marks/kind_icon";
import en from "./words.en.json";

const say = createTranslator(en, "shared/trace");

export type Trace = components["schemas"]["TraceDetail"];
export type Span = components["schemas"]["SpanOut"];

/** One step as the waterfall shows it: shares are of the whole width, times in milliseconds. */
export type Row = {
  span: Span;
  depth: number;
  hasChildren: boolean;
  kind: KindName;
  name: string;
  note: string;
  left: number;
  width: number;
  /** The part of the bar that is the wait for the first word. */
  firstShare: number;
  tokens?: number;
  cachedShare?: number;
  cost?: number;
};
export type Layout = { rows: Row[]; ticks: { at: number; ms: number }[] };

/** The picture of each kind of work. */
export const SPAN_ICONS: Record<Span["kind"], KindName> = {
  turn: "turn",
  model: "model",
  embedding: "model",
  retrieval: "know",
  tool: "tool",
  sub_agent: "sub",
  approval: "wait",
  workflow: "flow",
  workflow_node: "flow",
  delivery: "hook",
  channel: "hook",
  job: "turn",
};
const TICKS = [0, 0.25, 0.5, 0.75, 1];
/** A wait for a person longer than this share of the rest is drawn shorter: else hours would hide the seconds. */
const LONGEST_WAIT_SHARE = 0.4;

export const spanAttribute = (span: Span, name: string): unknown => (span.attributes as Record<string, unknown>)[name];
const textAttribute = (span: Span, name: string) => {
  const value = spanAttribute(span, name);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
};
export const numberAttribute = (span: Span, name: string) => {
  const value = spanAttribute(span, name);
  return typeof value === "number" ? value : undefined;
};
export const firstWordMsOf = (span: Span) => {
  const seconds = numberAttribute(span, "gen_ai.response.time_to_first_chunk");
  return seconds === undefined ? undefined : seconds * 1000;
};

const OUTCOMES = ["approved", "rejected", "timeout", "cancelled"] as const;

/** How a request for approval ended; what is newer than this console stands for itself. */
function describeOutcome(outcome: string): string {
  const known = OUTCOMES.find((one) => one === outcome);
  return known ? say(`outcome_${known}`) : outcome;
}

/** The name of a step for people, and one remark. */
export function describeSpan(span: Span): { name: string; note: string } {
  const rest = span.name.replace(/^\S+ /, "");
  switch (span.kind) {
    case "turn": {
      const version = textAttribute(span, "gen_ai.agent.version");
      return {
        name: say("turn"),
        note: `${textAttribute(span, "gen_ai.agent.name") || rest}${version && ` v${version}`}`,
      };
    }
    case "model":
      return {
        name: say("model"),
        note: textAttribute(span, "gen_ai.response.model") || textAttribute(span, "gen_ai.request.model"),
      };
    case "embedding":
      return { name: say("embedding"), note: textAttribute(span, "gen_ai.request.model") };
    case "retrieval": {
      const count = numberAttribute(span, "retinue.retrieval.returned");
      return { name: say("retrieval"), note: count === undefined ? "" : say("passages", { count }) };
    }
    case "tool":
      return {
        name: textAttribute(span, "gen_ai.tool.name") || rest,
        note: describeFailureCode(span.error?.code) ?? span.error?.message ?? "",
      };
    case "sub_agent":
      return { name: textAttribute(span, "gen_ai.agent.name") || rest, note: say("delegated") };
    case "approval":
      return { name: say("approval"), note: describeOutcome(textAttribute(span, "retinue.approval.outcome")) };
    default:
      return { name: rest || span.name, note: describeFailureCode(span.error?.code) ?? span.error?.message ?? "" };
  }
}

type Node = { span: Span; from: number; to: number; children: Node[] };

/** The spans as a tree. A span whose parent is missing, or above itself, stands at the top. */
function buildSpanTree(spans: Span[]): Node[] {
  const nodes = new Map<string, Node>();
  for (const span of spans) {
    const from = Date.parse(span.started_at);
    nodes.set(span.span_id, { span, from, to: from + span.duration_ms, children: [] });
  }
  const isAncestorOf = (id: string, span: Span): boolean => {
    const seen = new Set<string>();
    for (let at: Span | undefined = span; at?.parent_span_id && !seen.has(at.span_id); ) {
      if (at.parent_span_id === id) return true;
      seen.add(at.span_id);
      at = nodes.get(at.parent_span_id)?.span;
    }
    return false;
  };
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const parent = node.span.parent_span_id ? nodes.get(node.span.parent_span_id) : undefined;
    if (parent && !isAncestorOf(node.span.span_id, node.span)) parent.children.push(node);
    else roots.push(node);
  }
  const sortBranches = (all: Node[]) => {
    all.sort((a, b) => a.from - b.from);
    for (const node of all) sortBranches(node.children);
  };
  sortBranches(roots);
  return roots;
}

type Axis = { share: (at: number) => number; time: (share: number) => number };

/** From moments to shares of the width and back. Long waits for people are drawn shorter than they were. */
function createTimeAxis(spans: Span[]): Axis {
  const times = spans.map((span) => [Date.parse(span.started_at), Date.parse(span.started_at) + span.duration_ms]);
  const start = Math.min(...times.map(([from = 0]) => from));
  const end = Math.max(...times.map(([, to = 0]) => to));
  const waits = joinIntervals(
    spans
      .filter((span) => span.kind === "approval")
      .map((span) => [Date.parse(span.started_at), Date.parse(span.started_at) + span.duration_ms]),
  );
  const waited = waits.reduce((sum, [from, to]) => sum + to - from, 0);
  const longest = Math.max(1, (end - start - waited) * LONGEST_WAIT_SHARE);
  // Pieces of the axis: where each begins in time and in width, and how much narrower it is drawn.
  const pieces: { from: number; at: number; scale: number }[] = [];
  let at = 0;
  let before = start;
  for (const [from, to] of waits) {
    pieces.push({ from: before, at, scale: 1 });
    at += from - before;
    const scale = Math.min(1, longest / Math.max(1, to - from));
    pieces.push({ from, at, scale });
    at += (to - from) * scale;
    before = to;
  }
  pieces.push({ from: before, at, scale: 1 });
  const total = Math.max(1, at + end - before);
  return {
    share: (moment) => {
      const piece = pieces.findLast((one) => one.from <= moment) ?? pieces[0];
      return piece ? Math.min(1, Math.max(0, (piece.at + (moment - piece.from) * piece.scale) / total)) : 0;
    },
    time: (share) => {
      const piece = pieces.findLast((one) => one.at <= share * total) ?? pieces[0];
      return piece ? piece.from + (share * total - piece.at) / piece.scale - start : 0;
    },
  };
}

/** Intervals without overlaps, in their order. */
function joinIntervals(intervals: (number[] | [number, number])[]): [number, number][] {
  const all: [number, number][] = [];
  for (const [from = 0, to = 0] of intervals.toSorted(([a = 0], [b = 0]) => a - b)) {
    const last = all.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

/** Lay the spans out as rows, parents before their children; children of folded rows are left out. */
export function layOutRows(spans: Span[], folded: ReadonlySet<string> = new Set()): Layout {
  if (!spans.length) return { rows: [], ticks: [] };
  const axis = createTimeAxis(spans);
  const rows: Row[] = [];
  const addRows = (node: Node, depth: number) => {
    rows.push(createRow(node, depth, axis));
    if (!folded.has(node.span.span_id)) for (const child of node.children) addRows(child, depth + 1);
  };
  for (const root of buildSpanTree(spans)) addRows(root, 0);
  return { rows, ticks: TICKS.map((at) => ({ at, ms: Math.round(axis.time(at)) })) };
}

function createRow({ span, from, to, children }: Node, depth: number, axis: Axis): Row {
  const left = axis.share(from);
  const input = numberAttribute(span, "gen_ai.usage.input_tokens");
  const output = numberAttribute(span, "gen_ai.usage.output_tokens");
  const cached = numberAttribute(span, "gen_ai.usage.cache_read.input_tokens");
  const first = firstWordMsOf(span) ?? 0;
  return {
    span,
    depth,
    hasChildren: children.length > 0,
    kind: span.status === "error" ? "bad" : SPAN_ICONS[span.kind],
    ...describeSpan(span),
    left,
    width: Math.max(0, axis.share(to) - left),
    firstShare: span.duration_ms ? Math.min(1, first / span.duration_ms) : 0,
    tokens: input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0),
    cachedShare: cached && input ? cached / input : undefined,
    cost: numberAttribute(span, "retinue.cost_usd"),
  };
}

/** Where the time of a bar has room: after it if that is a third of the width, else where there is most. */
export function placeDuration({ left, width }: Pick<Row, "left" | "width">): "after" | "before" | "inside" {
  const after = 1 - left - width;
  if (after >= 1 / 3 || after >= Math.max(left, width)) return "after";
  return left > width ? "before" : "inside";
}

const spanEndMs = (span: Span) => Date.parse(span.started_at) + span.duration_ms;

/** When the reply was complete: what hangs behind it, such as deliveries of webhooks, nobody waited for. */
function replyEndMs(spans: Span[]): number | undefined {
  if (spans[0]?.kind !== "turn") return undefined;
  const turns = spans.filter((span) => span.kind === "turn");
  // A turn that waited for an approval has several spans, all of the same reply.
  const ends = turns.filter((span) => span.message_id === turns[0]?.message_id).map(spanEndMs);
  return ends.length ? Math.max(...ends) : undefined;
}

/** What a trace took: time until the reply with the part spent waiting for people, first word, calls and failures. */
export function summarizeTrace(trace: Trace) {
  const moments = trace.spans.flatMap((span) => [Date.parse(span.started_at), spanEndMs(span)]);
  const waits = trace.spans
    .filter((span) => span.kind === "approval")
    .map((span) => [Date.parse(span.started_at), Date.parse(span.started_at) + span.duration_ms]);
  const start = moments.length ? Math.min(...moments) : 0;
  const end = Math.max(start, ...moments);
  const replied = replyEndMs(trace.spans) ?? end;
  // Until the first word of the first call of a model that streamed.
  const words = trace.spans.filter((span) => span.kind === "model" && firstWordMsOf(span) !== undefined);
  const first = words[0];
  const calls = trace.spans.filter((span) => ["model", "tool", "sub_agent", "retrieval"].includes(span.kind));
  return {
    totalMs: moments.length ? replied - start : trace.duration_ms,
    afterMs: end - replied,
    waitedMs: joinIntervals(waits).reduce((sum, [from, to]) => sum + to - from, 0),
    firstWordMs: first && Date.parse(first.started_at) - start + (firstWordMsOf(first) ?? 0),
    calls: calls.length,
    failed: calls.filter((span) => span.status === "error").length,
  };
}
