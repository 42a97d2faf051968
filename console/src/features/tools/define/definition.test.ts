import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import words from "../words.en.json";
import { listEditableFields } from "./approval_fields";
import { listCallables, splitInput } from "./callable";
import configSchemas from "./config_schemas.json";
import {
  CONFIG_KINDS,
  configChanges,
  configFieldsOf,
  exampleConfigOf,
  firstConfigOf,
  isAskingFirst,
} from "./definition";

describe("the settings of a tool", () => {
  it("are those of the API's document", () => {
    const { components } = JSON.parse(readFileSync("../docs/reference/openapi.json", "utf8"));
    const kinds: Record<string, { $ref: string }> = components.schemas.ToolCreate.properties.config["x-config-schemas"];
    expect(CONFIG_KINDS).toEqual(Object.keys(kinds));
    for (const [kind, { $ref }] of Object.entries(kinds)) {
      const { properties, examples } = components.schemas[$ref.split("/").at(-1) ?? ""];
      const written = configSchemas[kind as keyof typeof configSchemas];
      expect([written.properties, written.example]).toEqual([properties, examples[0]]);
    }
  });

  it("have a field each, by the type of their value", () => {
    const kinds = Object.fromEntries(configFieldsOf("database").map(({ name, kind }) => [name, kind]));
    expect(kinds).toMatchObject({ db_type: "text", port: "number", ssl: "boolean", allowed_operations: "list" });
    expect(configFieldsOf("webhook").find(({ name }) => name === "headers")?.kind).toBe("json");
    expect(configFieldsOf("custom/mcp").map(({ name }) => name)).not.toContain("digest");
    expect(configFieldsOf("custom/unknown")).toEqual([]);
  });

  it("are sent as far as they differ", () => {
    const before = { url: "https://a.example", method: "POST", endpoints: { a: { path: "/a" }, b: { path: "/b" } } };
    expect(configChanges(before, structuredClone(before))).toEqual({});
    expect(
      configChanges(before, { url: "https://b.example", endpoints: { a: { path: "/a" }, c: { path: "/c" } } }),
    ).toEqual({ url: "https://b.example", method: null, endpoints: { b: null, c: { path: "/c" } } });
  });
});

describe("the approval of a tool", () => {
  const input_schema = { type: "object", properties: { order: {}, amount: {} } };

  it("concerns all of it, or one of its requests or functions", () => {
    const refund = { method: "POST", requires_approval: true };
    expect(isAskingFirst({ requiresApproval: true, config: {} })).toBe(true);
    expect(isAskingFirst({ requiresApproval: false, config: { endpoints: { look: {}, refund } } })).toBe(true);
    expect(isAskingFirst({ requiresApproval: false, config: { functions: { refund } } })).toBe(true);
    expect(isAskingFirst({ requiresApproval: false, config: { endpoints: { look: {} } } })).toBe(false);
  });

  it("lets approvers change the fields that the schemas name", () => {
    const config = { endpoints: { refund: { input_schema }, look: {} } };
    expect(listEditableFields({ config, inputSchema: undefined })).toEqual(["order", "amount"]);
    expect(listEditableFields({ config: {}, inputSchema: { properties: { amount: {}, note: {} } } })).toEqual([
      "amount",
      "note",
    ]);
  });
});

describe("a new tool", () => {
  it("begins as the example, without what no field shows", () => {
    expect(firstConfigOf("rest_api").endpoints).toEqual({
      get_order: { method: "GET", path: "/orders/{order_id}" },
      create_note: { method: "POST", path: "/orders/{order_id}/notes" },
    });
  });
});

describe("what a tool can be asked to do", () => {
  const tool = { tool_type: "rest_api" as const, config: exampleConfigOf("rest_api"), input_schema: null };

  it("is each of its endpoints, with the placeholders of the path", () => {
    const [first, second] = listCallables(tool);
    expect([first?.name, second?.name]).toEqual(["get_order", "create_note"]);
    expect(first?.schema).toMatchObject({ required: ["order_id"] });
    expect(first?.toInput({ order_id: "7" })).toEqual({ endpoint: "get_order", order_id: "7" });
  });

  it("is each function of its server", () => {
    const config = { kind: "mcp", functions: { close: { input_schema: { type: "object" } } } };
    const callables = listCallables({ tool_type: "custom", config, input_schema: null });
    expect(callables[0]?.toInput({ id: 7 })).toEqual({ function: "close", arguments: { id: 7 } });
    expect(splitInput(callables, { function: "close", arguments: { id: 7 } })).toEqual({
      name: "close",
      values: { id: 7 },
    });
  });

  it("is found again in an input", () => {
    const input = { endpoint: "create_note", order_id: "7" };
    expect(splitInput(listCallables(tool), input)).toEqual({ name: "create_note", values: { order_id: "7" } });
    expect(splitInput(listCallables({ ...tool, tool_type: "webhook" }), { a: 1 })).toEqual({
      name: "",
      values: { a: 1 },
    });
  });
});

it("has a name and a sentence in words for every setting that is entered", () => {
  const fields = Object.keys(configSchemas).flatMap((kind) => configFieldsOf(kind).map(({ name }) => name));
  const missing = [...new Set(fields)].filter((name) => !(`key_${name}` in words && `hint_${name}` in words));
  expect(missing).toEqual([]);
});
