import { expect, it } from "vitest";
import { findColouredRanges } from "./code_colours";

const kindsOf = (text: string, language: "python" | "javascript") =>
  findColouredRanges(text, language).map(({ from, to, kind }) => [text.slice(from, to), kind]);

it("colours words of the language where they stand", () => {
  expect(kindsOf('def main():\n    return "a"  # b\n', "python")).toEqual([
    ["def", "keyword"],
    ["main", "title"],
    ["return", "keyword"],
    ['"a"', "text"],
    ["# b", "comment"],
  ]);
  expect(kindsOf("const a = 1;", "javascript")).toContainEqual(["const", "keyword"]);
});

it("leaves very long code in one colour", () => {
  expect(findColouredRanges("return 1\n".repeat(3000), "python")).toEqual([]);
});
