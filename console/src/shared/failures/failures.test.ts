import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { describeFailure, describeFailureCode } from "./failures";
import en from "./words.en.json";

/** Where the console shows the code of a record without the message beside it. */
const SHOWN = /workflow executions|tool calls of messages|tool executions|documents|webhook deliveries|, messages/;

it("has words for every code that a screen may show", () => {
  const [, records = ""] = readFileSync("../docs/reference/errors.md", "utf8").split("## Codes in records");
  const rows = [...records.matchAll(/^\| `([a-z_]+)` \|[^|]*\|([^|]*)\|$/gm)];
  const codes = new Set(rows.filter(([, , shown]) => SHOWN.test(shown ?? "")).map(([, code]) => code as string));
  expect(codes.size).toBeGreaterThan(40);
  expect([...codes].filter((code) => !(code in en))).toEqual([]);
});

it("never shows a code in place of words", () => {
  expect(describeFailureCode("approval_timeout")).toBe("Nobody decided the approval in time.");
  expect(describeFailureCode("newer_than_this_console")).toBeUndefined();
  expect(describeFailure({ code: "timeout", message: "The node took 40 s." })).toBe("The node took 40 s.");
  expect(describeFailure({ code: "timeout" })).toBe(en.timeout);
  expect(describeFailure(null)).toBeUndefined();
});
