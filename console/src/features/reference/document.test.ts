// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { type ApiDocument, type ApiOperation, groupOperations, readReference } from "./document";
import { listMissingParameters, planRequest, startRequestDraft } from "./request_draft";
import {
  exampleValue,
  findFieldSchema,
  formatSchemaType,
  listEnumValues,
  listLimits,
  listVariants,
  requiredExample,
} from "./schema_text";

const document: ApiDocument = {
  info: { title: "API", version: "1" },
  "x-costs": { write: 2 },
  paths: {
    "/things/{thing_id}": {
      put: {
        operationId: "update_thing",
        summary: "Update thing",
        description: "Change it.",
        tags: ["things"],
        "x-requires": "things:write",
        "x-cost": "write",
        parameters: [
          { name: "thing_id", in: "path", required: true, schema: { type: "string" } },
          { name: "include", in: "query", schema: { enum: ["a"] } },
          { $ref: "#/components/parameters/TenantId" },
        ],
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } },
        },
        responses: { "200": { description: "OK" }, "404": { $ref: "#/components/responses/Gone" } },
      },
    },
  },
  components: {
    parameters: { TenantId: { name: "X-Tenant-ID", in: "header", schema: { type: "string" } } },
    responses: { Gone: { description: "Not there." } },
    schemas: {
      Thing: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string", minLength: 1, maxLength: 20, examples: ["Lamp"] },
          kind: { $ref: "#/components/schemas/Kind" },
          parts: { type: "array", items: { $ref: "#/components/schemas/Thing" } },
          note: { anyOf: [{ type: "string", maxLength: 5 }, { type: "null" }] },
        },
      },
      Kind: { enum: ["small", "large"], "x-enum-descriptions": { small: "Fits a hand." } },
    },
  },
};
const reference = readReference(document);
const operation = reference.operations[0] as ApiOperation;
const thing = { $ref: "#/components/schemas/Thing" };
const UNITS = { characters: "characters", entries: "entries" };

describe("the document", () => {
  it("becomes operations without references", () => {
    expect(operation.parameters.map(({ name }) => name)).toEqual(["thing_id", "include", "X-Tenant-ID"]);
    expect(operation.answers.map(([status, { description }]) => [status, description])).toEqual([
      [200, "OK"],
      [404, "Not there."],
    ]);
    expect(operation.costUnits).toBe(2);
  });

  it("is searched by every word in name, method, path and tag", () => {
    expect(groupOperations(reference.operations, "put thing")).toHaveLength(1);
    expect(groupOperations(reference.operations, "put person")).toEqual([]);
  });
});

describe("a schema", () => {
  it("has a type in a few signs", () => {
    expect(formatSchemaType(document, { type: "array", items: thing })).toBe("Thing[]");
    expect(formatSchemaType(document, { anyOf: [{ type: "string" }, { type: "null" }] })).toBe("string | null");
    expect(formatSchemaType(document, { additionalProperties: { type: "integer" } })).toBe("{ …: integer }");
  });

  it("says what a value must keep to, also behind 'or null'", () => {
    expect(listLimits({ type: "string", minLength: 1, maxLength: 20, default: "x" }, UNITS)).toEqual([
      "1–20 characters",
      '= "x"',
    ]);
    expect(listLimits({ anyOf: [{ type: "string", maxLength: 5 }, { type: "null" }] }, UNITS)).toEqual([
      "≤ 5 characters",
    ]);
  });

  it("has the fields of what it lists, and values with their meaning", () => {
    expect(Object.keys(findFieldSchema(document, { type: "array", items: thing })?.properties ?? {})).toContain("kind");
    expect(listEnumValues(document, { $ref: "#/components/schemas/Kind" })).toEqual([
      ['"small"', "Fits a hand."],
      ['"large"', undefined],
    ]);
  });

  it("has variants only where they differ in fields", () => {
    expect(listVariants(document, { anyOf: [thing, { type: "string" }] }).map(([name]) => name)).toEqual([
      "Thing",
      "string",
    ]);
    expect(listVariants(document, { anyOf: [{ type: "integer" }, { type: "string" }] })).toEqual([]);
  });

  it("gives an example that ends, although it contains itself", () => {
    expect(exampleValue({ document }, thing)).toEqual({ name: "Lamp", kind: "small", parts: [], note: "" });
    expect(requiredExample({ document }, thing)).toEqual({ name: "Lamp" });
  });
});

describe("a draft", () => {
  const draft = startRequestDraft(reference, operation);

  it("starts with what the body requires", () => {
    expect(JSON.parse(draft.body)).toEqual({ name: "Lamp" });
    expect(listMissingParameters(operation, draft)).toEqual(["thing_id"]);
  });

  it("becomes a request with encoded values and without empty ones", () => {
    const plan = planRequest(operation, { ...draft, values: { thing_id: "a/b", include: "", other: "x" } });
    expect(plan).toMatchObject({ method: "PUT", path: "/things/a%2Fb", headers: {} });
    expect(planRequest(operation, draft).path).toBe("/things/{thing_id}");
  });
});
