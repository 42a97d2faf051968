import { describe, expect, it } from "vitest";
import type { PlannedRequest } from "./request_draft";
import { formatPython, SNIPPET_LANGUAGES, writeSnippet } from "./snippets";

const SERVER = "https://retinue.test";
const GET: PlannedRequest = { method: "GET", path: "/api/v1/agents?search=it's", headers: {} };
const POST: PlannedRequest = {
  method: "POST",
  path: "/api/v1/agents",
  headers: { "Idempotency-Key": "k1" },
  json: '{"name": "It\'s mine", "is_active": true, "note": null}',
};
const write = (language: (typeof SNIPPET_LANGUAGES)[number], plan: PlannedRequest, isPublic = false) =>
  writeSnippet(language, plan, { server: SERVER, isPublic });

describe("a snippet", () => {
  it.each(SNIPPET_LANGUAGES)("takes the token of %s from the environment, and only where one is needed", (language) => {
    expect(write(language, GET)).toContain("API_TOKEN");
    expect(write(language, GET, true)).not.toContain("API_TOKEN");
    expect(write(language, GET, true)).not.toContain("Authorization");
  });

  it("survives quotes in a shell", () => {
    expect(write("curl", GET)).toContain(`'${SERVER}/api/v1/agents?search=it'\\''s'`);
    expect(write("curl", POST)).toContain(`-d '{"name": "It'\\''s mine"`);
  });

  it("names the method, the headers and the body", () => {
    for (const language of SNIPPET_LANGUAGES) {
      expect(write(language, POST)).toContain("POST");
      expect(write(language, POST)).toContain("Idempotency-Key");
      expect(write(language, POST)).toContain("mine");
    }
  });

  it("sends files as parts of a form", () => {
    const plan = { method: "POST", path: "/f", headers: {}, parts: { files: [new File(["a"], "a.txt")], note: "n" } };
    expect(write("curl", plan)).toContain("-F 'files=@a.txt'");
    expect(write("python", plan)).toContain('files={"files": open("a.txt", "rb")}');
    expect(write("javascript", plan)).toContain('form.append("note", "n");');
  });
});

it("writes values as Python does", () => {
  expect(formatPython({ a: [true, null, 1.5], b: {}, c: "x" })).toBe(
    '{\n    "a": [\n        True,\n        None,\n        1.5,\n    ],\n    "b": {},\n    "c": "x",\n}',
  );
});
