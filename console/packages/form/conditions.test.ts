import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Condition, findVisibleFields, isConditionMet } from "./conditions";

type FormCase = [conditions: Record<string, Condition | null>, values: Record<string, unknown>, visible: string[]];
type Cases = { values: unknown[]; comparisons: Record<string, string[]>; forms: FormCase[] };

// The server's results: tests/forms/condition_cases.py writes them.
const path = process.env.CONDITION_CASES ?? new URL("./conditions.cases.json", import.meta.url);
const { values, comparisons, forms }: Cases = JSON.parse(readFileSync(path, "utf8"));

describe("conditions agree with the server", () => {
  it("about every comparison of two values", () => {
    expect(Object.keys(comparisons)).toHaveLength(12);
    for (const [operator, rows] of Object.entries(comparisons))
      for (const [at, row] of rows.entries()) {
        const answers = new Map(values[at] === null ? [] : [["f", values[at]]]);
        const hasList = operator === "in" || operator === "not_in";
        const results = values.map((value) =>
          isConditionMet({ field: "f", operator, value: hasList ? [value] : value } as Condition, answers) ? "1" : "0",
        );
        expect(results.join(""), `${operator} ${JSON.stringify(values[at])}`).toBe(row);
      }
  });

  it("about the visible fields of forms", () => {
    expect(forms.length).toBeGreaterThanOrEqual(300);
    for (const [conditions, answers, visible] of forms) {
      const fields = Object.entries(conditions).map(([id, conditional]) => ({ id, conditional }));
      const found = findVisibleFields(fields, new Map(Object.entries(answers)));
      expect([...found].sort(), JSON.stringify([conditions, answers])).toEqual(visible);
    }
  });

  it("about answers that are missing", () => {
    const unanswered = new Map<string, unknown>();
    expect(isConditionMet({ field: "f", value: false }, unanswered)).toBe(true);
    expect(isConditionMet({ field: "f", operator: "is_empty" }, unanswered)).toBe(true);
    expect(isConditionMet({ field: "f", value: "TRUE" }, new Map([["f", true]]))).toBe(true);
  });
});
