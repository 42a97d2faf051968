import { expect, it } from "vitest";
import {
  collectConfigChanges,
  findWrongHeader,
  hasMissingFields,
  listConfigFields,
  readStoredText,
} from "./config_draft";

const MASK = "••••••••";
const fields = listConfigFields({
  id: "http",
  type: "email",
  name: "HTTP endpoint",
  config_schema: {
    url: { type: "string", required: true },
    port: { type: "integer", required: false },
    method: { type: "string", required: false, default: "POST" as never, choices: ["POST", "PUT"] },
    headers: { type: "object", required: false },
    secret: { type: "string", required: true, secret: true },
  },
});
const stored = { url: "https://a.example", port: 25, headers: { Accept: "text/plain" }, secret: MASK, note: "kept" };

it("makes a field of each key, and one for the recipient of its kind", () => {
  expect(fields.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    "url text",
    "port number",
    "method choice",
    "headers headers",
    "secret text",
    "to_email text",
  ]);
  expect(fields[2]).toMatchObject({ preset: "POST", choices: ["POST", "PUT"] });
});

it("shows what is stored, but no secret", () => {
  expect(fields.map((field) => readStoredText(field, stored))).toEqual([
    "https://a.example",
    "25",
    "",
    "Accept: text/plain",
    "",
    "",
  ]);
});

it("sends what differs, and null for what was emptied", () => {
  const draft = { url: "https://b.example ", port: "25", method: "PUT", headers: "", secret: "", to_email: "" };
  expect(collectConfigChanges(fields, draft, stored)).toEqual({
    url: "https://b.example",
    method: "PUT",
    headers: null,
  });
  expect(collectConfigChanges(fields, { port: "465", headers: "X-Key: a: b\n\n" }, stored)).toEqual({
    port: 465,
    headers: { "X-Key": "a: b" },
  });
  expect(collectConfigChanges(fields, {}, stored)).toEqual({});
});

it("keeps a secret that nobody entered, and removes one only if somebody says so", () => {
  expect(collectConfigChanges(fields, { secret: "new" }, stored)).toEqual({ secret: "new" });
  expect(collectConfigChanges(fields, { secret: null }, stored)).toEqual({ secret: null });
  expect(collectConfigChanges(fields, { secret: null }, {})).toEqual({});
});

it("sends a credential in place of secrets, and null to go back to them", () => {
  const draft = { credential_id: "cred_1", secret: "typed before" };
  expect(collectConfigChanges(fields, draft, stored)).toEqual({ credential_id: "cred_1" });
  expect(collectConfigChanges(fields, { credential_id: null, secret: "s" }, { credential_id: "cred_1" })).toEqual({
    credential_id: null,
    secret: "s",
  });
});

it("knows which required fields are empty", () => {
  expect(hasMissingFields(fields, {}, stored)).toBe(false);
  expect(hasMissingFields(fields, { url: " " }, stored)).toBe(true);
  expect(hasMissingFields(fields, { url: "https://a.example" })).toBe(true);
  expect(hasMissingFields(fields, { url: "https://a.example", credential_id: "" })).toBe(true);
  expect(hasMissingFields(fields, { url: "https://a.example", credential_id: "cred_1" })).toBe(false);
});

it("finds a line that is no header", () => {
  expect(findWrongHeader("Accept: a\n\nwrong")).toBe("wrong");
  expect(findWrongHeader("Accept: a\nX-Empty:")).toBeUndefined();
});
