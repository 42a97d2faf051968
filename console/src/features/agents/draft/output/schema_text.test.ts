import { expect, test } from "vitest";
import { parseSchemaText } from "./schema_text";

test("an empty text lifts the schema, and only an object schema is taken", () => {
  expect(parseSchemaText("  ")).toEqual({ schema: null });
  expect(parseSchemaText('{"type": "object"}')).toEqual({ schema: { type: "object" } });
  expect(parseSchemaText('{"type": ').problem).toBe("schemaNotJson");
  for (const text of ['{"type": "array"}', "[]", "null", "3"]) {
    expect(parseSchemaText(text).problem).toBe("schemaNotObject");
  }
});
