import { expect, it } from "vitest";
import { emptyHeaderRow, headerRowsOf, headersFromRows, isIncomplete } from "./header_rows";

const MASK = "••••••••";

it("keeps a stored value that nobody entered anew", () => {
  const [row] = headerRowsOf({ Authorization: MASK });
  expect(row).toMatchObject({ name: "Authorization", value: "", mask: MASK });
  expect(headersFromRows(row ? [row] : [])).toEqual({ Authorization: MASK });
  expect(headersFromRows(row ? [{ ...row, value: "Bearer new" }] : [])).toEqual({ Authorization: "Bearer new" });
});

it("leaves out a row that was not filled in, and a header that was removed", () => {
  expect(headersFromRows([emptyHeaderRow()])).toEqual({});
  expect(headersFromRows([{ ...emptyHeaderRow(), name: " X-Key ", value: "7" }])).toEqual({ "X-Key": "7" });
});

it("misses the other half of a row", () => {
  const empty = emptyHeaderRow();
  expect(isIncomplete(empty)).toBe(false);
  expect(isIncomplete({ ...empty, name: "X-Key" })).toBe(true);
  expect(isIncomplete({ ...empty, value: "7" })).toBe(true);
  expect(isIncomplete({ ...empty, name: "X-Key", mask: MASK })).toBe(false);
});

it("each row has a key of its own", () => {
  const keys = [emptyHeaderRow(), ...headerRowsOf({ a: MASK, b: MASK })].map((row) => row.key);
  expect(new Set(keys).size).toBe(3);
});
