import { describe, expect, it } from "vitest";
import { cutIntoPieces, plainTextOf, splitSentences } from "./reply_text";

describe("plainTextOf", () => {
  it.each([
    ["**Yes.** See [the page](https://example.com) [1].", "Yes. See the page."],
    ["# Title\n\nText", "Title\nText"],
    ["- one\n- two", "one\ntwo"],
    ["| a | b |\n|---|---|\n| 1 | 2 |", "a, b\n1, 2"],
    ["", ""],
  ])("reads %j", (markdown, text) => {
    expect(plainTextOf(markdown)).toBe(text);
  });
});

describe("splitSentences", () => {
  it("leaves out a sentence that may still grow", () => {
    expect(splitSentences("One. Two! Thr", false)).toEqual(["One.", "Two!"]);
    expect(splitSentences("One. Two.", false)).toEqual(["One."]);
    expect(splitSentences("One. Two. ", false)).toEqual(["One.", "Two."]);
  });
  it("has all of a whole text", () => {
    expect(splitSentences("One. Two", true)).toEqual(["One.", "Two"]);
    expect(splitSentences("", true)).toEqual([]);
  });
  it("does not cut numbers", () => {
    expect(splitSentences("It costs 1.50 today. Good", false)).toEqual(["It costs 1.50 today."]);
  });
});

describe("cutIntoPieces", () => {
  it("cuts between sentences", () => {
    expect(cutIntoPieces("One. Two. Three.", 10)).toEqual(["One. Two.", "Three."]);
  });
  it("cuts a sentence that is too long itself", () => {
    expect(cutIntoPieces("a".repeat(25), 10).map((piece) => piece.length)).toEqual([10, 10, 5]);
  });
});
