import type { JsonValues } from "../queries";
import type { Definition } from "./definition";

const propertyNames = (schema: unknown): string[] => {
  const properties = (schema as JsonValues | null | undefined)?.properties;
  return properties && typeof properties === "object" ? Object.keys(properties) : [];
};

/** The fields of the input that a tool's schemas name, for approvers to be allowed to change. */
export function listEditableFields({ config, inputSchema }: Pick<Definition, "config" | "inputSchema">): string[] {
  const parts = [config.endpoints, config.functions].flatMap((declared) =>
    Object.values((declared ?? {}) as Record<string, JsonValues>),
  );
  return [...new Set([inputSchema, ...parts.map((part) => part.input_schema)].flatMap(propertyNames))];
}
