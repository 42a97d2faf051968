// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import type { Approval } from "./queries";
import { readApprovalSearch } from "./routes";
import { amountOf, callOf, editsOf, fieldsOf, labelOf } from "./values";

const approval = (more: Record<string, unknown>) =>
  ({
    status: "pending",
    approvals_received: 0,
    editable_fields: ["amount", "note"],
    edited_input: null,
    payload: { tool: "Refund", input: { amount: 184, order: "10482", full: true, way: { card: 4421 } } },
    ...more,
  }) as unknown as Approval;

it("names the function that a call runs as the server does", () => {
  const payload = { tool: "Mini", function: "mini__wipe" };
  expect(callOf(approval({ payload: { ...payload, function_name: "wipe" } }))).toEqual({ tool: "Mini", name: "wipe" });
  expect(callOf(approval({ payload }))?.name).toBe("mini__wipe");
  expect([callOf(approval({})), callOf(approval({ payload: null }))]).toEqual([undefined, undefined]);
});

describe("the input of an approval", () => {
  it("opens only editable fields, also those that the call left out", () => {
    expect(fieldsOf(approval({})).map((field) => [field.name, field.control, field.isOpen])).toEqual([
      ["amount", "number", true],
      ["order", "line", false],
      ["full", "flag", false],
      ["way", "json", false],
      ["note", "line", true],
    ]);
    expect(fieldsOf(approval({ editable_fields: ["*"] })).every((field) => field.isOpen)).toBe(true);
    expect(fieldsOf(approval({ approvals_received: 1 })).some((field) => field.isOpen)).toBe(false);
  });
  it("shows what an earlier approver changed, and payloads without an input", () => {
    expect(fieldsOf(approval({ edited_input: { amount: 90 } }))[0]?.value).toBe(90);
    const [field] = fieldsOf(approval({ payload: { tool: "x", score: 82 }, editable_fields: [] }));
    expect([field?.name, field?.value]).toEqual(["score", 82]);
  });
  it("sends changes in their types and names what is wrong", () => {
    const fields = fieldsOf(approval({}));
    const { edited, changes, problems } = editsOf(fields, { amount: "150.5", order: "1", note: "late" });
    expect(edited).toEqual({ amount: 150.5, note: "late" });
    expect(changes[0]).toEqual({ name: "amount", before: "184", after: "150.5" });
    expect(problems).toEqual({});
    expect(editsOf(fields, { amount: "much" }).problems).toEqual({ amount: "number" });
    expect(editsOf(fields, { amount: "184" }).edited).toBeUndefined();
    expect(amountOf(fields, { amount: "150" })).toBe("150");
  });
  it("labels fields and reads the address", () => {
    expect(["order_number", "orderNumber", "x"].map(labelOf)).toEqual(["Order number", "Order number", "X"]);
    expect(readApprovalSearch({ show: "decided", id: "apv_1", other: 1 })).toEqual({ show: "decided", id: "apv_1" });
    expect(readApprovalSearch({ show: "mine", id: 4 })).toEqual({});
  });
});
