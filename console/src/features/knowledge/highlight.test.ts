import { expect, it } from "vitest";
import { readDocumentFilters } from "./filters";
import { highlightTerms } from "./highlight";

const marked = (text: string, ...terms: string[]) =>
  highlightTerms(text, terms)
    .map((piece) => (piece.isMatch ? `[${piece.text}]` : piece.text))
    .join("");

it("marks words of the question and nothing inside other words", () => {
  expect(marked("The Pump pumps. pump", "pump")).toBe("The [Pump] pumps. [pump]");
  expect(marked("nothing here", "pump")).toBe("nothing here");
  expect(marked("", "pump")).toBe("");
});

it("marks codes as a whole and by their parts", () => {
  expect(marked("See AX-4410/B.", "ax4410b")).toBe("See [AX-4410/B].");
  expect(marked("See AX-4410/B.", "4410")).toBe("See AX-[4410]/B.");
});

it("marks pairs of characters where words have no spaces, without overlaps", () => {
  expect(marked("東京駅へ", "東京", "京駅")).toBe("[東京][駅]へ");
});

it("keeps only filters that mean something", () => {
  expect(readDocumentFilters({ status: "failed", page: "2", search: "", document: "doc_1", other: 1 })).toEqual({
    status: "failed",
    page: 2,
    document: "doc_1",
  });
  expect(readDocumentFilters({ status: "lost", page: "-3" })).toEqual({});
});
