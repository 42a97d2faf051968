import type { Snapshot } from "../draft";

type Read = { schema: Snapshot["output_schema"]; problem?: "schemaNotJson" | "schemaNotObject" };

/** The schema that a text says; none for an empty one. The server checks the rest. */
export function parseSchemaText(text: string): Read {
  if (!text.trim()) return { schema: null };
  try {
    const schema = JSON.parse(text) as Snapshot["output_schema"];
    const isObject = typeof schema === "object" && schema !== null && schema.type === "object";
    return isObject ? { schema } : { schema: null, problem: "schemaNotObject" };
  } catch {
    return { schema: null, problem: "schemaNotJson" };
  }
}
