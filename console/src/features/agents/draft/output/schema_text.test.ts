import { expect, test } from "vitest";
import { readSchema } from "./schema_text";

test("an empty text lifts the schema, and only an object schema is taken", () => {
  expect(readSchema("  ")).toEqual({ schema: null });
  expect(readSchema('{"type": "object"}')).toEqual({ schema: { type: "object" } });
  expect(readSchema('{"type": ').problem).toBe("schemaNotJson");
  for (const text of ['{"type": "array"}', "[]", "null", "3"]) {
    expect(readSchema(text).problem).toBe("schemaNotObject");
  }
});
