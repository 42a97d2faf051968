import type { components } from "../../api/schema";
import { openStream, type ServerEvent } from "../../api/stream";

type Stop = Pick<
  components["schemas"]["ChatReply"],
  "usage" | "estimated_cost_usd" | "finish_reason" | "sources" | "warnings"
>;
export type ToolCall = { tool: string; input: unknown; output?: unknown; status: string };
export type Turn = {
  id: string;
  question: string;
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
      return { ...turn, calls: finishCall(turn.calls, { tool: body.tool, status: "pending_approval" }) };
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
    i === at ? { ...call, output: body.output, status: String(body.status ?? "success") } : call,
  );
}

export const ask = (agentId: string, message: string, conversationId: string, signal: AbortSignal) =>
  openStream(`/api/v1/agents/${agentId}/chat/stream?include=sub_agents`, {
    method: "POST",
    body: JSON.stringify({ message, ...(conversationId ? { conversation_id: conversationId } : {}) }),
    signal,
  });
