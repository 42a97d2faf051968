// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import {
  applyServerEvent,
  createTurn,
  isDemoWarningKnown,
  isWaitingTurn,
  listShownWarnings,
  type Turn,
  turnsFromMessages,
} from "./chat";

const event = (name: string, data: unknown) => ({ event: name, data, id: "" });
const turnAfter = (question: string, ...events: ReturnType<typeof event>[]) =>
  events.reduce<Turn>((turn, one) => applyServerEvent(turn, one, 1000), { ...createTurn(question), startedMs: 400 });

describe("a turn", () => {
  it("collects text, tool calls and the end", () => {
    const turn = turnAfter(
      "Where?",
      event("message_start", { message_id: "msg_1" }),
      event("tool_use", { tool: "orders", input: { id: 1 } }),
      event("tool_result", { tool: "orders", output: { ok: true }, status: "success" }),
      event("content_delta", { delta: "On " }),
      event("content_delta", { delta: "its way." }),
      event("message_stop", {
        finish_reason: "stop",
        warnings: ["demo_model"],
        tool_calls: [{ execution_time_ms: 48 }],
      }),
    );
    expect(turn.text).toBe("On its way.");
    expect(turn.calls).toMatchObject([{ tool: "orders", input: { id: 1 }, output: { ok: true }, status: "success" }]);
    expect([turn.firstMs, turn.tookMs, turn.calls[0]?.tookMs]).toEqual([600, 600, 48]);
    expect([turn.isLive, turn.messageId, turn.stop?.warnings]).toEqual([false, "msg_1", ["demo_model"]]);
  });
  it("ends with an error", () => {
    const turn = applyServerEvent(createTurn("x"), event("error", { code: "budget_exceeded", message: "…" }));
    expect([turn.isLive, turn.error?.code]).toEqual([false, "budget_exceeded"]);
  });
  it("names the approval that a call waits for", () => {
    const waiting = turnAfter(
      "Refund",
      event("tool_use", { tool: "refund", input: {} }),
      event("approval_required", { tool: "refund", approval_id: "apv_1", input: {} }),
      event("message_stop", { finish_reason: "awaiting_approval" }),
    );
    expect(waiting.calls).toMatchObject([{ tool: "refund", status: "awaiting_approval", approvalId: "apv_1" }]);
    expect([isWaitingTurn(waiting), waiting.isLive]).toEqual([true, false]);
    const decided = applyServerEvent(waiting, event("tool_result", { tool: "refund", output: 1, status: "completed" }));
    expect(decided.calls).toMatchObject([{ status: "completed", output: 1 }]);
    expect([isWaitingTurn(decided), decided.isLive]).toEqual([false, true]);
  });
  it("is read from stored messages, also without a reply or a question", () => {
    const message = (id: string, role: string, content: string) => ({
      id,
      role,
      content,
      created_at: "",
      details: null,
    });
    const stored = [
      message("1", "assistant", "Hello"),
      message("2", "user", "Hi"),
      message("3", "user", "Where?"),
      message("4", "assistant", "Here"),
      message("5", "user", "Thanks"),
    ] as never;
    expect(turnsFromMessages(stored).map((turn) => [turn.question, turn.text])).toEqual([
      ["", "Hello"],
      ["Hi", ""],
      ["Where?", "Here"],
      ["Thanks", ""],
    ]);
  });
  it("says once in a conversation that the demo model answers", () => {
    const replied = (id: string, ...warnings: string[]) => ({ ...createTurn("Hi"), id, stop: { warnings } }) as never;
    const turns: Turn[] = [
      replied("1"),
      replied("2", "model_fallback", "demo_model"),
      replied("3", "model_fallback", "demo_model", "tool_failed"),
      replied("4", "model_fallback"),
    ];
    expect(turns.map((turn) => listShownWarnings(turn, isDemoWarningKnown(turn, turns)))).toEqual([
      [],
      ["demo_model"],
      ["tool_failed"],
      ["model_fallback"],
    ]);
  });
});
