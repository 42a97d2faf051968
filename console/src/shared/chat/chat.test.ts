import { describe, expect, it } from "vitest";
import { newTurn, turnsOf, withEvent } from "./chat";

const event = (name: string, data: unknown) => ({ event: name, data, id: "" });

describe("a turn", () => {
  it("collects text, tool calls and the end", () => {
    const turn = [
      event("message_start", { message_id: "msg_1" }),
      event("tool_use", { tool: "orders", input: { id: 1 } }),
      event("tool_result", { tool: "orders", output: { ok: true }, status: "success" }),
      event("content_delta", { delta: "On " }),
      event("content_delta", { delta: "its way." }),
      event("message_stop", { finish_reason: "stop", warnings: ["demo_model"] }),
    ].reduce(withEvent, newTurn("Where?"));
    expect(turn.text).toBe("On its way.");
    expect(turn.calls).toEqual([{ tool: "orders", input: { id: 1 }, output: { ok: true }, status: "success" }]);
    expect([turn.isLive, turn.messageId, turn.stop?.warnings]).toEqual([false, "msg_1", ["demo_model"]]);
  });
  it("ends with an error", () => {
    const turn = withEvent(newTurn("x"), event("error", { code: "budget_exceeded", message: "…" }));
    expect([turn.isLive, turn.error?.code]).toEqual([false, "budget_exceeded"]);
  });
  it("names the approval that a call waits for", () => {
    const turn = [
      event("tool_use", { tool: "refund", input: {} }),
      event("approval_required", { tool: "refund", approval_id: "apv_1", input: {} }),
    ].reduce(withEvent, newTurn("Refund"));
    expect(turn.calls).toEqual([{ tool: "refund", input: {}, status: "awaiting_approval", approvalId: "apv_1" }]);
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
    expect(turnsOf(stored).map((turn) => [turn.question, turn.text])).toEqual([
      ["", "Hello"],
      ["Hi", ""],
      ["Where?", "Here"],
      ["Thanks", ""],
    ]);
  });
});
