import { expect, it } from "vitest";
import { parseHeaderLines, writeHeaderLines } from "./header_text";

it("reads headers as they were written", () => {
  const headers = { "X-Team": "blue", Authorization: "Bearer a:b" };
  expect(parseHeaderLines(writeHeaderLines(headers))).toEqual(headers);
  expect(parseHeaderLines("\n  \n")).toEqual({});
});

it("refuses a line without a name or a value", () => {
  for (const text of ["X-Team", ": blue", "X-Team:", "X-Team: blue\nnothing"])
    expect(parseHeaderLines(text)).toBeUndefined();
});
