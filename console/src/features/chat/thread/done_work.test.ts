// @vitest-environment jsdom
import { expect, test } from "vitest";
import type { ToolCall } from "../../../shared/chat/chat";
import { describeWork, listDoneCalls } from "./done_work";

const call = (tool: string, status = "completed", more: Partial<ToolCall> = {}): ToolCall => ({
  tool,
  input: { secret: "x" },
  status,
  ...more,
});

test("what was done is one line in words, each thing once", () => {
  const calls = [call("orders__look_up"), call("orders__look_up"), call("web_search"), call("delegate_to_billing")];
  expect(describeWork({ calls })?.line).toBe("Used Look up, searched the web, asked Billing");
  expect(describeWork({ calls: [] })).toBeUndefined();
});

test("what runs now is said as it runs", () => {
  const work = describeWork({ calls: [call("web_search"), call("orders__look_up", "running")] });
  expect(work).toMatchObject({ line: "Uses Look up", state: "live" });
});

test("a call that waits for a person is not done, and a rejected one is said", () => {
  const calls = [call("refund", "denied"), call("refund", "awaiting_approval")];
  expect(describeWork({ calls })?.steps).toEqual([{ text: "Did not run Refund", outcome: "rejected" }]);
  expect(describeWork({ calls })).toMatchObject({ line: "Did not run Refund", state: "undone" });
  expect(listDoneCalls({ calls })).toBe("");
});

test("a call that nobody decided on in time was not run", () => {
  const calls = [call("refund", "timeout", { approvalId: "apr_1" })];
  expect(describeWork({ calls })?.steps).toEqual([{ text: "Did not run Refund", outcome: "nobody decided in time" }]);
});

test("what did not work is not said as if it had", () => {
  const calls = [call("orders__look_up"), call("refund", "failed")];
  expect(describeWork({ calls })).toMatchObject({ line: "Used Look up, used Refund (did not work)", state: "done" });
});

test("inputs are not shown", () => {
  expect(JSON.stringify(describeWork({ calls: [call("orders__look_up")] }))).not.toContain("secret");
});

test("before it failed some things were done", () => {
  expect(listDoneCalls({ calls: [call("orders__look_up"), call("refund", "failed")] })).toBe("Used Look up");
});
