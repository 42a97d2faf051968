import { expect, test } from "vitest";
import { findChosenTrace } from "./chosen_trace";

type Messages = Parameters<typeof findChosenTrace>[0];
const reply = (trace?: string, correlation?: string) => ({
  details: trace ? { trace_id: trace, correlation_id: correlation } : null,
});
const MESSAGES = [reply(), reply("tr_1", "cor_1"), reply("tr_2", "cor_2"), reply()] as unknown as Messages;

test("the last reply with a trace is shown where the address names none", () => {
  expect(findChosenTrace(MESSAGES)).toEqual({ chosen: "tr_2", isAsked: false });
  expect(findChosenTrace([])).toEqual({ chosen: undefined, isAsked: false });
});

test("the address names a trace by its id or by its correlation id", () => {
  expect(findChosenTrace(MESSAGES, "tr_0")).toEqual({ chosen: "tr_0", isAsked: true });
  expect(findChosenTrace(MESSAGES, undefined, "cor_1")).toEqual({ chosen: "tr_1", isAsked: true });
});

test("a correlation id of another page shows no trace here", () => {
  expect(findChosenTrace(MESSAGES, undefined, "cor_9")).toEqual({ chosen: undefined, isAsked: false });
});
