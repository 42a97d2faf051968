// @vitest-environment jsdom
import { describe, expect, it, vi } from "vitest";
import { formatFieldLabel } from "./field_label";
import type { Approval } from "./queries";
import { collectEdits, findAmount, findRequestedCall, listApprovalFields } from "./values";

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
  expect(findRequestedCall(approval({ payload: { ...payload, function_name: "wipe" } }))).toEqual({
    tool: "Mini",
    name: "wipe",
  });
  expect(findRequestedCall(approval({ payload }))?.name).toBe("mini__wipe");
  expect([findRequestedCall(approval({})), findRequestedCall(approval({ payload: null }))]).toEqual([
    undefined,
    undefined,
  ]);
});

describe("the input of an approval", () => {
  it("opens only editable fields, also those that the call left out", () => {
    expect(listApprovalFields(approval({})).map((field) => [field.name, field.control, field.isOpen])).toEqual([
      ["amount", "number", true],
      ["order", "line", false],
      ["full", "flag", false],
      ["way", "json", false],
      ["note", "line", true],
    ]);
    expect(listApprovalFields(approval({ editable_fields: ["*"] })).every((field) => field.isOpen)).toBe(true);
    expect(listApprovalFields(approval({ approvals_received: 1 })).some((field) => field.isOpen)).toBe(false);
  });
  it("shows what an earlier approver changed, and payloads without an input", () => {
    expect(listApprovalFields(approval({ edited_input: { amount: 90 } }))[0]?.value).toBe(90);
    const [field] = listApprovalFields(approval({ payload: { tool: "x", score: 82 }, editable_fields: [] }));
    expect([field?.name, field?.value]).toEqual(["score", 82]);
  });
  it("sends changes in their types and names what is wrong", () => {
    const fields = listApprovalFields(approval({}));
    const { edited, changes, problems } = collectEdits(fields, { amount: "150.5", order: "1", note: "late" });
    expect(edited).toEqual({ amount: 150.5, note: "late" });
    expect(changes[0]).toEqual({ name: "amount", before: "184", after: "150.5" });
    expect(problems).toEqual({});
    expect(collectEdits(fields, { amount: "much" }).problems).toEqual({ amount: "number" });
    expect(collectEdits(fields, { amount: "184" }).edited).toBeUndefined();
    expect(findAmount(fields, { amount: "150" })).toBe("150");
  });
  it("approves the amount that was typed, in the numbers of the language", () => {
    const fields = listApprovalFields(approval({ editable_fields: ["amount", "fee"] }));
    expect(collectEdits(fields, { amount: "1,000", fee: "2,000" })).toEqual({
      edited: { amount: 1000, fee: 2000 },
      problems: {},
      changes: [
        { name: "amount", before: "184", after: "1,000" },
        { name: "fee", before: "", after: "2,000" },
      ],
    });
    expect(findAmount(fields, { amount: "1234.5" })).toBe("1,234.5");
    expect(collectEdits(fields, { amount: "1.234,56" })).toEqual({ problems: { amount: "number" }, changes: [] });
    expect(findAmount(fields, { amount: "1.234,56" })).toBe("");
  });
  it("reads German numbers in German", async () => {
    vi.resetModules();
    localStorage.setItem("retinue-language", "de");
    const german = await import("./values");
    localStorage.clear();
    const fields = listApprovalFields(approval({ editable_fields: ["amount", "fee", "code", "rest"] }));
    const { edited, changes, problems } = german.collectEdits(fields, {
      amount: "1.000",
      fee: "1.234,5",
      code: "007",
      rest: "1234.567",
    });
    expect(edited).toEqual({ amount: 1000, fee: 1234.5, code: "007" });
    expect(changes.map(({ after }) => after)).toEqual(["1.000", "1.234,5", "007"]);
    expect(problems).toEqual({ rest: "number" });
    expect(german.findAmount(fields, { amount: "1000,5" })).toBe("1.000,5");
    expect(german.formatValue(1.234)).toBe("1,234");
  });
  it("labels fields", () => {
    expect(["order_number", "orderNumber", "x"].map(formatFieldLabel)).toEqual(["Order number", "Order number", "X"]);
  });
});
