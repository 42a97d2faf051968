import { beforeEach, expect, it, vi } from "vitest";
import { type ApiKey, findServerKey, tryNewKey } from "./queries";

const answers = vi.hoisted(() => ({ keys: [] as unknown[], works: true, calls: [] as string[] }));
vi.mock("../../api/client", () => {
  const call = (method: string) => (path: string) => {
    answers.calls.push(`${method} ${path}`);
    if (method === "GET") return { data: answers.keys };
    if (path.endsWith("/test")) return { success: answers.works, message: "", latency_ms: 3, models: ["llama"] };
    return { id: "new", provider: "ollama", is_active: true };
  };
  return {
    api: { GET: call("GET"), POST: call("POST"), PUT: call("PUT"), DELETE: call("DELETE") },
    unwrapData: async (answer: unknown) => answer,
  };
});

const stored = { id: "old", provider: "ollama", base_url: "http://127.0.0.1:11434/v1", is_active: true } as ApiKey;

beforeEach(() => {
  answers.keys = [stored];
  answers.works = true;
  answers.calls = [];
});

it.each([
  ["http://127.0.0.1:11434", "old"],
  ["http://localhost:11434/v1/", "old"],
  [" HTTP://127.0.0.1:11434/v1 ", "old"],
  ["http://127.0.0.1:11435/v1", undefined],
  ["http://localhost.example:11434/v1", undefined],
])("knows the server at %j", (base_url, id) => {
  expect(findServerKey([stored], { provider: "ollama", base_url })?.id).toBe(id);
  expect(findServerKey([stored], { provider: "openai_compatible", base_url })).toBeUndefined();
});

it("asks the key that exists and makes no second one", async () => {
  const tried = await tryNewKey({ provider: "ollama", name: "x", base_url: "http://localhost:11434/v1" });
  expect(tried.key?.id).toBe("old");
  expect(answers.calls).toEqual(["GET /api/v1/api-keys", "POST /api/v1/api-keys/{key_id}/test"]);
});

it("keeps a stored key whose server does not answer, and no new one", async () => {
  answers.works = false;
  await tryNewKey({ provider: "ollama", name: "x", base_url: "http://127.0.0.1:11434" });
  expect(answers.calls).not.toContain("DELETE /api/v1/api-keys/{key_id}");
  const tried = await tryNewKey({ provider: "ollama", name: "x", base_url: "http://127.0.0.1:1/v1" });
  expect(tried.key).toBeUndefined();
  expect(answers.calls).toContain("DELETE /api/v1/api-keys/{key_id}");
});

it("turns a key on again that was off", async () => {
  answers.keys = [{ ...stored, is_active: false }];
  await tryNewKey({ provider: "ollama", name: "x", base_url: "http://127.0.0.1:11434" });
  expect(answers.calls).toContain("PUT /api/v1/api-keys/{key_id}");
});

it("stores a key with a secret of its own", async () => {
  await tryNewKey({ provider: "ollama", name: "x", base_url: "http://127.0.0.1:11434", api_key: "sk-1" });
  expect(answers.calls[0]).toBe("POST /api/v1/api-keys");
});
