import { act } from "react";
import { beforeEach, expect, test, vi } from "vitest";
import { renderHook } from "../render_hook";
import { readChat, storeChat } from "./stored_chat";
import { useChat } from "./use_chat";

const AGENT = "agt_1";
const CHAT = { conversationId: "con_1" };
const message = (id: string, role: string, content: string) => ({ id, role, content, created_at: "", attachments: [] });
const HISTORY = [message("msg_1", "user", "First"), message("msg_2", "assistant", "One.")];
const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const SECOND = [
  event("message_start", { conversation_id: "con_1", message_id: "msg_4" }),
  event("content_delta", { delta: "Two." }),
  event("message_stop", { finish_reason: "stop" }),
].join("");

/** Answers the history when a test says so, and questions at once; `asked` are their bodies. */
let answerHistory: (response: Response) => void;
let asked: Record<string, unknown>[];
vi.stubGlobal("fetch", async (request: Request | string) => {
  if (typeof request === "string") return new Response("{}");
  if (request.method === "GET") return new Promise<Response>((done) => (answerHistory = done));
  asked.push(await request.json());
  return new Response(SECOND);
});
const settled = () => act(() => new Promise((done) => setTimeout(done, 50)));
const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
const historyOf = (...data: unknown[]) => json({ data, pagination: { total: data.length } });

beforeEach(() => {
  sessionStorage.clear();
  asked = [];
});

test("a question that is asked while the history is being read goes on with it and stays", async () => {
  storeChat(AGENT, CHAT);
  const chat = renderHook(() => useChat({ agentId: AGENT }));
  await settled();
  act(() => void chat.now.send("Second"));
  await settled();
  answerHistory(historyOf(...HISTORY, message("msg_3", "user", "Second")));
  await settled();
  expect(asked).toMatchObject([{ message: "Second", conversation_id: "con_1" }]);
  expect(chat.now.turns.map(({ question, text }) => [question, text])).toEqual([
    ["First", "One."],
    ["Second", "Two."],
  ]);
  chat.unmount();
});

test("a conversation that is no longer there is forgotten", async () => {
  storeChat(AGENT, CHAT);
  const chat = renderHook(() => useChat({ agentId: AGENT }));
  await settled();
  answerHistory(json({ error: { code: "conversation_not_found", message: "Gone." } }, 404));
  await settled();
  expect(readChat(AGENT)).toBeUndefined();
  act(() => void chat.now.send("Second"));
  await settled();
  expect(asked[0]).not.toHaveProperty("conversation_id");
  chat.unmount();
});

test("a history that comes after a new conversation was begun is not shown", async () => {
  storeChat(AGENT, CHAT);
  const chat = renderHook(() => useChat({ agentId: AGENT }));
  await settled();
  act(() => chat.now.reset());
  answerHistory(historyOf(...HISTORY));
  await settled();
  expect(chat.now.turns).toEqual([]);
  expect(readChat(AGENT)).toBeUndefined();
  chat.unmount();
});

test("what was answered last is told with its files", async () => {
  storeChat(AGENT, CHAT);
  const onAnswered = vi.fn();
  const chat = renderHook(() => useChat({ agentId: AGENT, onAnswered }));
  await settled();
  const file = { file_id: "fil_1", filename: "a.txt", kind: "document" };
  answerHistory(historyOf({ ...HISTORY[0], attachments: [file] }, HISTORY[1]));
  await settled();
  expect(onAnswered).toHaveBeenCalledExactlyOnceWith("First", [file]);
  chat.unmount();
});

const REFUSED = { question: "Second", attachments: [], error: { code: "server_gone", message: "Gone." } };
const shownOf = (chat: { now: ReturnType<typeof useChat> }) =>
  chat.now.turns.map(({ question, error }) => [question, error?.code]);

test.each([
  ["does not have it", []],
  ["has it without an answer", [message("msg_3", "user", "Second")]],
])("a question that got no answer keeps its notice after a reload: the server %s", async (_, more) => {
  storeChat(AGENT, CHAT);
  const chat = renderHook(() => useChat({ agentId: AGENT, refused: REFUSED }));
  await settled();
  answerHistory(historyOf(...HISTORY, ...more));
  await settled();
  expect(shownOf(chat)).toEqual([
    ["First", undefined],
    ["Second", "server_gone"],
  ]);
  act(() => void chat.now.send("Second"));
  await settled();
  expect(shownOf(chat)).toEqual([
    ["First", undefined],
    ["Second", undefined],
  ]);
  chat.unmount();
});

test("a question that was answered after all loses its notice", async () => {
  storeChat(AGENT, CHAT);
  const chat = renderHook(() => useChat({ agentId: AGENT, refused: { ...REFUSED, question: "First" } }));
  await settled();
  answerHistory(historyOf(...HISTORY));
  await settled();
  expect(shownOf(chat)).toEqual([["First", undefined]]);
  chat.unmount();
});
