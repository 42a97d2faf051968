// @vitest-environment jsdom
import { expect, it } from "vitest";
import { dropSentEdits } from "../../../shared/sent_edits";
import { listChangedFields, type Snapshot } from "./draft";
import { computeLineMarks, estimateTokens, listPlaceholders } from "./instructions/line_marks";

it("marks the lines that differ from what is published", () => {
  expect(computeLineMarks("a\nb\nc", "a\nb\nc")).toEqual({ changed: [], removedBefore: [] });
  expect(computeLineMarks("a\nb\nc", "a\nnew\nc\nlast")).toEqual({ changed: [2, 4], removedBefore: [] });
  expect(computeLineMarks("a\nb\nc", "a\nc")).toEqual({ changed: [], removedBefore: [2] });
  expect(computeLineMarks("a\nb", "a")).toEqual({ changed: [], removedBefore: [2] });
  expect(computeLineMarks("", "x\ny")).toEqual({ changed: [1, 2], removedBefore: [] });
});

it("marks two long texts without a common line in a moment", () => {
  const lines = (name: string) => Array.from({ length: 2000 }, (_, i) => `${name}${i}`).join("\n");
  expect(computeLineMarks(lines("a"), lines("b")).changed).toHaveLength(2000);
});

it("counts tokens and placeholders", () => {
  expect(estimateTokens("")).toBe(0);
  expect(estimateTokens("You help.")).toBe(3);
  expect([...listPlaceholders("Hello {{name}}, {{name}} of {{company}} {not} {{\n}}")]).toEqual([
    "{{name}}",
    "{{company}}",
  ]);
});

it("keeps what changed while the rest was saved", () => {
  const sent = { name: "A", system_prompt: "x" };
  expect(dropSentEdits({ ...sent, system_prompt: "xy" }, sent)).toEqual({ system_prompt: "xy" });
  expect(dropSentEdits(sent, sent)).toEqual({});
});

it("names the fields that publishing would change", () => {
  const live = { name: "A", status: "published", tools: [{ tool_id: "1" }] } as unknown as Snapshot;
  const draft = { name: "A", status: "draft", tools: [] } as unknown as Snapshot;
  expect(listChangedFields(live, draft)).toEqual(["tools"]);
  expect(listChangedFields(undefined, draft)).toEqual([]);
});
