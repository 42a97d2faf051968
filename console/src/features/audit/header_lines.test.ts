import { expect, it } from "vitest";
import { readHeaderLines } from "./header_lines";

it("reads a header from each line", () =>
  expect(readHeaderLines("Authorization: Bearer a:b\n\n X-Key :  k ")).toEqual({
    headers: { Authorization: "Bearer a:b", "X-Key": "k" },
  }));

it.each(["no colon", "X-Key:", ": value", "two words: x"])("names the line %j, which is none", (line) =>
  expect(readHeaderLines(`A: b\n${line}`).broken).toBe(line.trim()),
);
