import { describe, expect, it } from "vitest";
import { findSuggestionProblem, parseSuggestions } from "./suggestions";

describe("suggestions", () => {
  it("keeps every line as it is written", () => {
    const long = "x".repeat(95);
    expect(parseSuggestions(` One \n\n${long}\n3\n4\n5`)).toEqual(["One", long, "3", "4", "5"]);
  });

  it("says which limit is passed, and where", () => {
    expect(findSuggestionProblem(["a", "b", "c", "d"])).toBeUndefined();
    expect(findSuggestionProblem(["a", "b", "c", "d", "e"])).toEqual({ kind: "tooMany", count: 5 });
    expect(findSuggestionProblem(["a", "x".repeat(81)])).toEqual({ kind: "tooLong", number: 2, length: 81 });
    expect(findSuggestionProblem(["🙂".repeat(80)])).toBeUndefined();
  });
});
