import { describe, expect, it } from "vitest";
import { matchesConditions, matchesEventType } from "./matching";
import cases from "./matching.cases.json";

type Conditions = Record<string, unknown>;

describe("the rules of the server", () => {
  it.each(cases.types)("$pattern and $type: $matches", ({ pattern, type, matches }) => {
    expect(matchesEventType(pattern, type)).toBe(matches);
  });

  it.each(cases.conditions.map((one) => [JSON.stringify(one), one] as const))("%s", (_, one) => {
    expect(matchesConditions(one.filters as unknown as Conditions, one.data)).toBe(one.matches);
  });
});
