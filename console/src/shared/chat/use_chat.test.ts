// @vitest-environment jsdom
import { act } from "react";
import { beforeEach, expect, test, vi } from "vitest";
import { renderHook } from "../render_hook";
import { readStoredChat, storeChat } from "./stored_chat";
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

test("a question that is asked while the history is being read continues it and stays", async () => {
  storeChat(AGENT, CHAT);
  const chat = renderHook(() => useChat({ agentId: AGENT, place: AGENT }));
  await settled();
  act(() => void chat.now.session.send("Second"));
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
  const chat = renderHook(() => useChat({ agentId: AGENT, place: AGENT }));
  await settled();
  answerHistory(json({ error: { code: "conversation_not_found", message: "Gone." } }, 404));
  await settled();
  expect(readStoredChat(AGENT)).toBeUndefined();
  act(() => void chat.now.session.send("Second"));
  await settled();
  expect(asked[0]).not.toHaveProperty("conversation_id");
  chat.unmount();
});
