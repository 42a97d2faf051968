// @vitest-environment jsdom
import { expect, it } from "vitest";
import { withoutSent } from "../../../shared/agent/unsaved";
import { changedFields, type Snapshot } from "./draft";
import { estimatedTokens, lineMarks, placeholdersOf } from "./instructions/line_marks";

it("marks the lines that differ from what is published", () => {
  expect(lineMarks("a\nb\nc", "a\nb\nc")).toEqual({ changed: [], removedBefore: [] });
  expect(lineMarks("a\nb\nc", "a\nnew\nc\nlast")).toEqual({ changed: [2, 4], removedBefore: [] });
  expect(lineMarks("a\nb\nc", "a\nc")).toEqual({ changed: [], removedBefore: [2] });
  expect(lineMarks("a\nb", "a")).toEqual({ changed: [], removedBefore: [2] });
  expect(lineMarks("", "x\ny")).toEqual({ changed: [1, 2], removedBefore: [] });
});

it("marks two long texts without a common line in a moment", () => {
  const lines = (name: string) => Array.from({ length: 2000 }, (_, i) => `${name}${i}`).join("\n");
  expect(lineMarks(lines("a"), lines("b")).changed).toHaveLength(2000);
});

it("counts tokens and placeholders", () => {
  expect(estimatedTokens("")).toBe(0);
  expect(estimatedTokens("You help.")).toBe(3);
  expect([...placeholdersOf("Hello {{name}}, {{name}} of {{company}} {not} {{\n}}")]).toEqual([
    "{{name}}",
    "{{company}}",
  ]);
});

it("keeps what changed while the rest was saved", () => {
  const sent = { name: "A", system_prompt: "x" };
  expect(withoutSent({ ...sent, system_prompt: "xy" }, sent)).toEqual({ system_prompt: "xy" });
  expect(withoutSent(sent, sent)).toEqual({});
});

it("names the fields that publishing would change", () => {
  const live = { name: "A", status: "published", tools: [{ tool_id: "1" }] } as unknown as Snapshot;
  const draft = { name: "A", status: "draft", tools: [] } as unknown as Snapshot;
  expect(changedFields(live, draft)).toEqual(["tools"]);
  expect(changedFields(undefined, draft)).toEqual([]);
});
