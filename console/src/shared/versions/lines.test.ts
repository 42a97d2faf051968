import { expect, test } from "vitest";
import { countLines, diffLines } from "./lines";

test("a changed line stands between its neighbours", () => {
  const lines = diffLines("a\nb\nc\nd\ne", "a\nb\nX\nd\ne");
  expect(lines).toEqual([
    { kind: "gap", count: 1 },
    { kind: "same", text: "b" },
    { kind: "less", text: "c" },
    { kind: "more", text: "X" },
    { kind: "same", text: "d" },
    { kind: "gap", count: 1 },
  ]);
});

test("lines that moved apart keep what they share", () => {
  const lines = diffLines("one\ntwo\nthree", "zero\none\nthree\nfour");
  expect([countLines(lines, "more"), countLines(lines, "less")]).toEqual([2, 1]);
});

test("equal texts have no change", () => {
  expect(diffLines("a\nb", "a\nb")).toEqual([{ kind: "gap", count: 2 }]);
});
