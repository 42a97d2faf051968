import { queryOptions } from "@tanstack/react-query";
import { basePath } from "../../api/base";
import { readApiError } from "../../api/errors";

/** A JSON Schema as the document of the API has it. */
export type ApiSchema = {
  $ref?: string;
  type?: string;
  title?: string;
  description?: string;
  properties?: Record<string, ApiSchema>;
  required?: string[];
  items?: ApiSchema;
  additionalProperties?: ApiSchema | boolean;
  anyOf?: ApiSchema[];
  oneOf?: ApiSchema[];
  enum?: unknown[];
  "x-enum-descriptions"?: Record<string, string>;
  "x-config-schemas"?: Record<string, ApiSchema>;
  default?: unknown;
  examples?: unknown[];
  format?: string;
  contentMediaType?: string;
  writeOnly?: boolean;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};
export type ApiParameter = {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema: ApiSchema;
};
type Media = { schema?: ApiSchema; example?: unknown };
export type ApiContent = Record<string, Media>;
export type ApiAnswer = { description: string; content?: ApiContent; "x-codes"?: string[] };
type Referable<T> = T | { $ref: string };
type RawOperation = {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  "x-requires": string;
  "x-cost": string;
  parameters?: Referable<ApiParameter>[];
  requestBody?: { required?: boolean; description?: string; content: ApiContent };
  responses: Record<string, Referable<ApiAnswer>>;
};
export type ApiDocument = {
  info: { title: string; version: string };
  "x-costs"?: Record<string, number>;
  paths: Record<string, Record<string, RawOperation>>;
  components: Record<string, Record<string, unknown>>;
};

/** One operation with everything that the document only refers to. */
export type ApiOperation = {
  id: string;
  method: string;
  path: string;
  title: string;
  description: string;
  tag: string;
  requires: string;
  cost: string;
  costUnits: number;
  parameters: ApiParameter[];
  body?: RawOperation["requestBody"];
  answers: [status: number, answer: ApiAnswer][];
};

/** Find what a reference such as `#/components/schemas/Agent` stands for. */
export function resolveReference<T extends object>(document: ApiDocument, node: T | { $ref: string }): T {
  let found: unknown = node;
  for (let depth = 0; depth < 20 && found && typeof found === "object" && "$ref" in found; depth += 1) {
    const steps = String(found.$ref).slice(2).split("/");
    found = steps.reduce<unknown>((place, step) => (place as Record<string, unknown> | undefined)?.[step], document);
  }
  return (found ?? {}) as T;
}

function readOperation(document: ApiDocument, method: string, path: string, raw: RawOperation): ApiOperation {
  const answers = Object.entries(raw.responses).map(
    ([status, answer]) => [Number(status), resolveReference(document, answer)] as [number, ApiAnswer],
  );
  return {
    id: raw.operationId,
    method: method.toUpperCase(),
    path,
    title: raw.summary,
    description: raw.description,
    tag: raw.tags[0] ?? "",
    requires: raw["x-requires"],
    cost: raw["x-cost"],
    costUnits: document["x-costs"]?.[raw["x-cost"]] ?? 0,
    parameters: (raw.parameters ?? []).map((one) => resolveReference(document, one)),
    body: raw.requestBody,
    answers,
  };
}

/** The whole reference: the document, for its schemas, and its operations in the order of their paths. */
export type Reference = { document: ApiDocument; operations: ApiOperation[] };

export const readReference = (document: ApiDocument): Reference => ({
  document,
  operations: Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, raw]) => typeof raw === "object" && "operationId" in raw)
      .map(([method, raw]) => readOperation(document, method, path, raw)),
  ),
});

/** The operations with every word of the text in their name, path or id, by tag. */
export function groupOperations(
  operations: readonly ApiOperation[],
  text: string,
): [tag: string, found: ApiOperation[]][] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, ApiOperation[]>();
  for (const one of operations) {
    const searched = `${one.title} ${one.method} ${one.path} ${one.id} ${one.tag}`.toLowerCase();
    if (!words.every((word) => searched.includes(word))) continue;
    groups.set(one.tag, [...(groups.get(one.tag) ?? []), one]);
  }
  return [...groups].sort(([one], [other]) => one.localeCompare(other));
}

/** Loaded when the first page of the reference opens, and read once: the document is large. */
export const referenceQuery = queryOptions({
  queryKey: ["reference"],
  queryFn: async ({ signal }) => {
    const response = await fetch(`${basePath}/openapi.json`, { signal });
    if (!response.ok) throw await readApiError(response);
    return readReference((await response.json()) as ApiDocument);
  },
  staleTime: Number.POSITIVE_INFINITY,
  // A document of megabytes is not compared with itself part by part.
  structuralSharing: false,
});
