import { expect, it } from "vitest";
import { translateSummary } from "./summary";

it.each([
  ["Changed status.", "Changed: Status."],
  ["Changed primary_model, system_prompt.", "Changed: Model, Instructions."],
  ["Changed tool Refund.", "Changed tool Refund."],
  ["Changed something_new.", "Changed something_new."],
  ["Shorter answers for the summer.", "Shorter answers for the summer."],
])("says %j in words", (summary, expected) => expect(translateSummary(summary)).toBe(expected));
