import type { components } from "../../api/schema";
import { openStream, type ServerEvent } from "../../api/stream";

type Stop = Pick<
  components["schemas"]["ChatReply"],
  "usage" | "estimated_cost_usd" | "finish_reason" | "sources" | "warnings" | "trace_id"
>;
export type ToolCall = {
  tool: string;
  input: unknown;
  output?: unknown;
  status: string;
  approvalId?: string;
  tookMs?: number;
};
export type Turn = {
  id: string;
  question: string;
  askedAt?: string;
  messageId: string;
  text: string;
  calls: ToolCall[];
  stop?: Stop;
  error?: { code: string; message: string };
  isLive: boolean;
};

export const newTurn = (question: string): Turn => ({
  id: crypto.randomUUID?.() ?? String(Math.random()),
  question,
  messageId: "",
  text: "",
  calls: [],
  isLive: true,
});

/** The turn after one more event. */
export function withEvent(turn: Turn, { event, data }: ServerEvent): Turn {
  const body = (data ?? {}) as Record<string, unknown>;
  switch (event) {
    case "message_start":
      return { ...turn, messageId: String(body.message_id ?? "") };
    case "content_delta":
      return { ...turn, text: turn.text + String(body.delta ?? "") };
    case "tool_use":
      return { ...turn, calls: [...turn.calls, { tool: String(body.tool), input: body.input, status: "running" }] };
    case "tool_result":
      return { ...turn, calls: finishCall(turn.calls, body) };
    case "approval_required":
      return { ...turn, calls: finishCall(turn.calls, { ...body, output: undefined, status: "awaiting_approval" }) };
    case "message_stop":
      return { ...turn, stop: body as unknown as Stop, isLive: false };
    case "error":
      return { ...turn, error: { code: String(body.code ?? ""), message: String(body.message ?? "") }, isLive: false };
    default:
      return turn;
  }
}

function finishCall(calls: ToolCall[], body: Record<string, unknown>): ToolCall[] {
  const at = calls.findIndex((call) => call.tool === body.tool && call.status === "running");
  if (at < 0) return calls;
  return calls.map((call, i) =>
    i === at
      ? {
          ...call,
          output: body.output,
          status: String(body.status ?? "success"),
          ...(body.approval_id ? { approvalId: String(body.approval_id) } : {}),
        }
      : call,
  );
}

export const ask = (agentId: string, message: string, conversationId: string, signal: AbortSignal) =>
  openStream(`/api/v1/agents/${agentId}/chat/stream?include=sub_agents`, {
    method: "POST",
    body: JSON.stringify({ message, ...(conversationId ? { conversation_id: conversationId } : {}) }),
    signal,
  });

type Message = components["schemas"]["MessageOut"];

/** The turns of a stored conversation: each question with the replies that follow it. */
export function turnsOf(messages: Message[]): Turn[] {
  const turns: Turn[] = [];
  let question: Message | undefined;
  for (const message of messages) {
    if (message.role === "user") {
      if (question) turns.push(storedTurn(question));
      question = message;
      continue;
    }
    turns.push(storedTurn(question, message));
    question = undefined;
  }
  if (question) turns.push(storedTurn(question));
  return turns;
}

function storedTurn(question?: Message, reply?: Message): Turn {
  const details = reply?.details;
  return {
    id: reply?.id ?? question?.id ?? "",
    question: question?.content ?? "",
    askedAt: question?.created_at ?? reply?.created_at,
    messageId: reply?.id ?? "",
    text: reply?.content ?? "",
    calls: (details?.tool_calls ?? []).map((call) => ({
      tool: call.tool,
      input: call.input,
      output: call.output ?? undefined,
      status: call.status,
      approvalId: call.approval_id ?? undefined,
      tookMs: call.execution_time_ms,
    })),
    stop: details ? (details as unknown as Stop) : undefined,
    error: details?.error ?? undefined,
    isLive: false,
  };
}
