import type { ApiError } from "../../api/errors";
import type { components } from "../../api/schema";
import { openEventStream, type ServerEvent } from "../../api/stream";
import type { Attached } from "./attachments";

type Stop = Pick<
  components["schemas"]["ChatReply"],
  "usage" | "estimated_cost_usd" | "finish_reason" | "sources" | "warnings" | "trace_id" | "compaction"
>;
export type ToolCall = {
  tool: string;
  input: unknown;
  output?: unknown;
  /** The images in what came back. */
  images?: Attached[];
  status: string;
  approvalId?: string;
  /** When the call began on the clock of this page, and how long it took. */
  startedMs?: number;
  tookMs?: number;
};
export type TurnError = {
  code: string;
  message: string;
  details?: Record<string, unknown>;
  /** What the server has noted about it, to hand on. */
  correlationId?: string;
};
export type Rating = "positive" | "negative" | "none";
export type Feedback = Pick<components["schemas"]["Feedback"], "rating"> &
  Partial<Pick<components["schemas"]["Feedback"], "comment" | "reasons">>;
type Versions = components["schemas"]["MessageVersions"];
export type Turn = {
  id: string;
  question: string;
  /** The id of the question, once the server was asked for it, and of the message before it. */
  questionId?: string;
  parentId?: string;
  /** Which of their versions the question and the reply are. */
  questionVersions?: Versions;
  replyVersions?: Versions;
  /** The files of the question. */
  attachments?: Attached[];
  askedAt?: string;
  messageId: string;
  text: string;
  calls: ToolCall[];
  stop?: Stop;
  error?: TurnError;
  /** It was refused before the server kept anything of it. */
  isRefused?: boolean;
  isLive: boolean;
  /** Its connection broke; it goes on once the server is back. */
  isLost?: boolean;
  /** Of a reply that this page has asked for: when, until its first word, and until its end. */
  startedMs?: number;
  firstMs?: number;
  tookMs?: number;
  feedback?: Feedback;
};

export const createTurn = (question: string, attachments: Attached[] = []): Turn => ({
  id: crypto.randomUUID?.() ?? String(Math.random()),
  question,
  attachments,
  messageId: "",
  text: "",
  calls: [],
  isLive: true,
  startedMs: performance.now(),
});

/** Whether a turn goes with the next question: the server has nothing of it, or the question is asked once more. */
export const isReplacedByQuestion = (question: string, turn: Turn) =>
  turn.isRefused || (Boolean(turn.error) && !turn.text && turn.question === question);

/** Whether the reply is not at its end: a person decides about one of its calls first. */
export const isWaitingTurn = (turn: Turn) => turn.stop?.finish_reason === "awaiting_approval" && !turn.error;

/** The turn whose reply is being written; without one, that which waits for a person. */
export const findLiveTurn = (turns: Turn[]): Turn | undefined =>
  turns.find((turn) => turn.isLive) ?? turns.find(isWaitingTurn);

const DEMO = "demo_model";
const FALLBACK = "model_fallback";
const hasDemoWarning = ({ stop }: Turn) => stop?.warnings?.includes(DEMO) ?? false;

/** Whether an earlier turn has said that the demo model answers: once is enough for a conversation. */
export const isDemoWarningKnown = (turn: Turn, turns: Turn[]) =>
  hasDemoWarning(turn) && turns.find(hasDemoWarning)?.id !== turn.id;

/** The warnings to show with a reply. That the demo model answered includes that the chosen one did not. */
export function listShownWarnings(turn: Turn, isKnown: boolean): string[] {
  const all = turn.stop?.warnings ?? [];
  if (!hasDemoWarning(turn)) return all;
  return all.filter((code) => code !== FALLBACK && !(isKnown && code === DEMO));
}

const elapsedTurnMs = (turn: Turn, now: number) => (turn.startedMs === undefined ? undefined : now - turn.startedMs);

/** The turn after one more event. */
export function applyServerEvent(turn: Turn, { event, data }: ServerEvent, now = performance.now()): Turn {
  const body = (data ?? {}) as Record<string, unknown>;
  switch (event) {
    case "message_start":
      // What a page has kept of the reply over a reload comes once more.
      return { ...turn, messageId: String(body.message_id ?? ""), text: "", calls: [] };
    case "content_delta":
      return {
        ...continueTurn(turn),
        text: turn.text + String(body.delta ?? ""),
        firstMs: turn.firstMs ?? elapsedTurnMs(turn, now),
      };
    case "tool_use":
      return {
        ...continueTurn(turn),
        calls: [...turn.calls, { tool: String(body.tool), input: body.input, status: "running", startedMs: now }],
      };
    case "tool_result":
      return { ...continueTurn(turn), calls: finishToolCall(turn.calls, body, now) };
    case "approval_required":
      return {
        ...turn,
        calls: finishToolCall(turn.calls, { ...body, output: undefined, status: "awaiting_approval" }, now),
      };
    case "message_stop":
      return stopTurn(turn, body as unknown as Stop & { tool_calls?: StoredCall[] }, now);
    case "error":
      return { ...turn, error: { code: String(body.code ?? ""), message: String(body.message ?? "") }, isLive: false };
    default:
      return turn;
  }
}

/** A reply that goes on after a decision is live again, and its first end was none. */
const continueTurn = (turn: Turn): Turn => (turn.stop ? { ...turn, stop: undefined, isLive: true } : turn);

type StoredCall = components["schemas"]["CalledTool"];

const listCallImages = (call?: StoredCall): Attached[] =>
  (call?.images ?? []).map(({ file_id, filename }) => ({ file_id, filename, kind: "image" }));

function stopTurn(turn: Turn, stop: Stop & { tool_calls?: StoredCall[] }, now: number): Turn {
  // The server knows how long a call took; the page only knows when it heard of it.
  const known = stop.tool_calls;
  const calls =
    known?.length === turn.calls.length
      ? turn.calls.map((call, at) => ({
          ...call,
          images: listCallImages(known[at]),
          tookMs: known[at]?.execution_time_ms ?? call.tookMs,
        }))
      : turn.calls;
  return { ...turn, calls, stop, isLive: false, tookMs: elapsedTurnMs(turn, now) };
}

const OPEN = ["running", "awaiting_approval"];

function finishToolCall(calls: ToolCall[], body: Record<string, unknown>, now: number): ToolCall[] {
  const at = calls.findIndex((call) => call.tool === body.tool && OPEN.includes(call.status));
  if (at < 0) return calls;
  return calls.map((call, i) =>
    i === at
      ? {
          ...call,
          output: body.output,
          status: String(body.status ?? "success"),
          ...(call.startedMs === undefined || body.approval_id ? {} : { tookMs: now - call.startedMs }),
          ...(body.approval_id ? { approvalId: String(body.approval_id) } : {}),
        }
      : call,
  );
}

/** What a turn runs: the draft or a version, with another model, as a visitor sees it, and where it stands. */
export type AskOptions = Partial<
  Pick<
    components["schemas"]["ChatAsk"],
    | "version"
    | "model"
    | "as"
    | "from_conversation_id"
    | "seed_messages"
    | "attachments"
    | "edit_of"
    | "regenerate_of"
    | "parent_id"
  >
>;

export const openReplyStream = (
  agentId: string,
  message: string,
  conversationId: string,
  signal: AbortSignal,
  options: AskOptions = {},
) =>
  openEventStream(`/api/v1/agents/${agentId}/chat/stream?include=sub_agents`, {
    method: "POST",
    body: JSON.stringify({ message, ...(conversationId ? { conversation_id: conversationId } : {}), ...options }),
    signal,
  });

/** Go on with a reply after one of its events: at once if it runs or has ended, else once it goes on. */
export const resumeReplyStream = (agentId: string, messageId: string, after: string, signal: AbortSignal) =>
  openEventStream(`/api/v1/agents/${agentId}/chat/stream/${messageId}?include=sub_agents&after=${after || "0"}`, {
    signal,
  });

export function toTurnError(error: ApiError): TurnError {
  const { code, message, details, correlationId } = error;
  return { code, message, details, ...(correlationId ? { correlationId } : {}) };
}

type Message = components["schemas"]["MessageOut"];

/** The turns of a stored conversation: each question with the replies that follow it. */
export function turnsFromMessages(messages: Message[]): Turn[] {
  const turns: Turn[] = [];
  let question: Message | undefined;
  for (const message of messages) {
    if (message.role === "user") {
      if (question) turns.push(turnFromMessages(question));
      question = message;
      continue;
    }
    turns.push(turnFromMessages(question, message));
    question = undefined;
  }
  if (question) turns.push(turnFromMessages(question));
  return turns;
}

/** Without questions that got no answer and were asked once more. */
export const dropRepeatedTurns = (turns: Turn[]): Turn[] =>
  turns.filter((turn, at) => turn.messageId || turn.question !== turns[at + 1]?.question);

/** Stored turns, then those of this page; what the page shows of a turn is newer than what is stored of it. */
export const mergeNewerTurns = (stored: Turn[], newer: Turn[]): Turn[] => [
  ...stored.filter(
    ({ messageId, question }) =>
      !newer.some((one) => (messageId ? one.messageId === messageId : one.question === question)),
  ),
  ...newer,
];

/** Stored turns, then those of this page, without a reply that has `ended` and a refusal that was answered after all. */
export function mergeHistory(history: Turn[], shown: Turn[], ended?: Turn): Turn[] {
  const last = history.at(-1);
  const isAnsweredTurn = (turn: Turn) => Boolean(last?.text && !last.error) && turn.question === last?.question;
  const isPastTurn = (turn: Turn) => turn.id === ended?.id || (turn.isRefused && isAnsweredTurn(turn));
  return mergeNewerTurns(
    history,
    shown.filter((turn) => !isPastTurn(turn)),
  );
}

function turnFromMessages(question?: Message, reply?: Message): Turn {
  const details = reply?.details;
  return {
    id: reply?.id ?? question?.id ?? "",
    question: question?.content ?? "",
    questionId: question?.id,
    parentId: (question ?? reply)?.parent_id ?? undefined,
    questionVersions: question?.versions,
    replyVersions: reply?.versions,
    attachments: question?.attachments ?? [],
    askedAt: question?.created_at ?? reply?.created_at,
    messageId: reply?.id ?? "",
    text: reply?.content ?? "",
    calls: (details?.tool_calls ?? []).map((call) => ({
      tool: call.tool,
      input: call.input,
      output: call.output ?? undefined,
      images: listCallImages(call),
      status: call.status,
      approvalId: call.approval_id ?? undefined,
      tookMs: call.execution_time_ms,
    })),
    stop: details ? (details as unknown as Stop) : undefined,
    error: details?.error ?? undefined,
    isLive: false,
    feedback: reply?.feedback ?? undefined,
  };
}
