// @vitest-environment jsdom
import { act } from "react";
import { beforeEach, expect, test, vi } from "vitest";
import { renderHook } from "../../../shared/render_hook";
import { useThread } from "./use_thread";

const FILE = { file_id: "fil_1", filename: "a.txt", kind: "document" };
const UNSENT = { text: "Frist", files: [FILE], cutFiles: [] };
let asked: Record<string, unknown>[];
vi.stubGlobal("fetch", async (request: Request | string) => {
  if (typeof request === "string") return new Response("{}");
  asked.push(await request.json());
  const problem = { error: { code: "model_cannot_see", message: "No." } };
  return new Response(JSON.stringify(problem), { status: 422 });
});
const settled = () => act(() => new Promise((done) => setTimeout(done, 50)));

beforeEach(() => {
  asked = [];
  sessionStorage.setItem("retinue.unsent.thread.agt_1", JSON.stringify(UNSENT));
});

test("a question that was refused is tried again as it stands in the field now, once and with its files", async () => {
  const thread = renderHook(() => useThread("agt_1", undefined, () => undefined));
  act(() => thread.now.sendWritten());
  await settled();
  expect([thread.now.composer.text, thread.now.turns.length]).toEqual(["Frist", 1]);
  act(() => thread.now.composer.setText("First"));
  const [refused] = thread.now.turns;
  if (!refused) throw new Error("There is no turn.");
  act(() => thread.now.retry(refused));
  expect([thread.now.composer.text, thread.now.composer.files.stored]).toEqual(["", []]);
  await settled();
  expect(asked.map(({ message, attachments }) => [message, attachments])).toEqual([
    ["Frist", [{ file_id: "fil_1" }]],
    ["First", [{ file_id: "fil_1" }]],
  ]);
  expect(thread.now.turns.map(({ question }) => question)).toEqual(["First"]);
  expect(thread.now.composer.text).toBe("First");
  expect(thread.now.composer.files.stored).toHaveLength(1);
});
