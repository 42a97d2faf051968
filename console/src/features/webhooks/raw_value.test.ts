import { expect, it } from "vitest";
import { findRawValue } from "./raw_value";

it("returns a value as it stands in the text", () => {
  const raw = '{"total":1890.50, "10":1,"2":[{"a":"}\\"]"}]}';
  const text = `{"id":"dlv_1","note":"\\"request\\":{}","attempts":[{"x":[1,2]}],"request": {"headers":{"a":"b"},"body": ${raw}},"n":1}`;
  expect(findRawValue(text, ["request", "body"])).toBe(raw);
  expect(findRawValue(text, ["id"])).toBe('"dlv_1"');
  expect(findRawValue(text, ["n"])).toBe("1");
  expect(findRawValue(text, ["request", "headers", "a"])).toBe('"b"');
});

it("returns nothing where there is nothing", () => {
  for (const text of ["", "[]", "{}", '{"a":1}', '{"request":null}'])
    expect(findRawValue(text, ["request", "body"])).toBe("");
});
