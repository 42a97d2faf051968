// @vitest-environment jsdom
import { expect, test, vi } from "vitest";
import { ApiError } from "../../../api/errors";
import {
  ANSWER_EVENTS,
  afterFrame,
  createChatEvent,
  createTextEvent,
  FakeChatServer,
  listTurnTexts,
  type ServerMessage,
  START_EVENT,
} from "../../../shared/chat/fake_chat_server";
import {
  FIRST_MESSAGES as FIRST,
  openTestThread as openThread,
  SECOND_MESSAGES as SECOND,
  turnAt,
} from "./fake_thread";
import { type AudioReply, findShownEnd, ThreadSession } from "./thread_session";

test("after a reply its question can be edited: ids and versions are read", async () => {
  const server = new FakeChatServer();
  server.readMessages = async () => [...FIRST, ...SECOND];
  const { session } = await openThread(server);
  await session.ask("Second");
  expect(turnAt(session, -1)).toMatchObject({ questionId: "msg_3", messageId: "msg_4", text: "Two." });
  expect(session.lastMessageId).toBe("msg_4");
});

test("an edited question replaces what followed the old one, and names it", async () => {
  const server = new FakeChatServer();
  server.readMessages = async () => [...FIRST, ...SECOND];
  const { session } = await openThread(server);
  server.readMessages = () => new Promise(() => undefined);
  const { id } = turnAt(session, 0);
  void session.edit(turnAt(session, 0), "First, please");
  await afterFrame();
  expect(server.asked).toMatchObject([{ question: "First, please", options: { edit_of: "msg_1" } }]);
  expect(listTurnTexts(session)).toEqual([["First, please", "Two."]]);
  expect(turnAt(session, 0)).toMatchObject({ questionVersions: { at: 2, of: 2 } });
  expect(turnAt(session, 0).id).not.toBe(id);
});

test("a reply that is written again keeps its question and the files of it", async () => {
  const server = new FakeChatServer();
  const file = { file_id: "fil_1", filename: "a.txt", kind: "document" };
  server.readMessages = async () => [{ ...FIRST[0], attachments: [file] } as ServerMessage, FIRST[1] as ServerMessage];
  const { session } = await openThread(server);
  await session.writeAgain(turnAt(session, 0));
  expect(server.asked).toEqual([{ question: "First", conversationId: "con_1", options: { regenerate_of: "msg_2" } }]);
});

test("an older version is opened by its last message, and the next question follows it", async () => {
  const server = new FakeChatServer();
  const read = vi.fn(async (leaf?: string) => (leaf ? FIRST : [...FIRST, ...SECOND]));
  server.readMessages = read;
  const { session } = await openThread(server);
  await session.openVersion("msg_2");
  expect(read).toHaveBeenLastCalledWith("msg_2");
  expect(listTurnTexts(session)).toEqual([["First", "One."]]);
  await session.ask("Third");
  expect(server.asked[0]?.options).toEqual({ parent_id: "msg_2" });
  await session.ask("Fourth");
  expect(server.asked[1]?.options).toEqual({});
});

test("earlier messages are read from where those of the page begin", async () => {
  const server = new FakeChatServer();
  server.readMessages = async (leaf) => (leaf === "msg_2" ? FIRST : SECOND);
  const { session } = await openThread(server);
  await session.readEarlier();
  expect(listTurnTexts(session)).toEqual([
    ["First", "One."],
    ["Second", "Two."],
  ]);
});

test("a question that the server has but could not answer is asked again by its id", async () => {
  const server = new FakeChatServer();
  server.readMessages = async () => FIRST;
  const { session } = await openThread(server);
  server.readMessages = async () => [...FIRST, SECOND[0] as ServerMessage];
  server.answer = [START_EVENT, createChatEvent("error", { code: "model_timeout", message: "No." })];
  await session.ask("Second");
  expect(turnAt(session, -1)).toMatchObject({ error: { code: "model_timeout" }, questionId: "msg_3", messageId: "" });
  server.answer = ANSWER_EVENTS;
  await session.retry(turnAt(session, -1));
  expect(server.asked.at(-1)?.options).toEqual({ regenerate_of: "msg_3" });
});

test.each([
  ["has the question", [SECOND[0] as ServerMessage], false, { regenerate_of: "msg_3" }],
  ["does not have it", [], true, {}],
])("after a failure of the provider the server %s", async (_, more, isRefused, options) => {
  const server = new FakeChatServer();
  server.readMessages = async () => FIRST;
  const { session } = await openThread(server);
  server.readMessages = async () => [...FIRST, ...more];
  server.answer = [new ApiError(502, "model_error", "No.")];
  await session.ask("Second");
  expect(turnAt(session, -1)).toMatchObject({ question: "Second", error: { code: "model_error" } });
  expect(Boolean(turnAt(session, -1).isRefused)).toBe(isRefused);
  server.answer = ANSWER_EVENTS;
  await session.retry(turnAt(session, -1));
  expect(server.asked.at(-1)?.options).toEqual(options);
});

test("a first question that the provider failed at is asked again in its conversation", async () => {
  const server = new FakeChatServer();
  const onReplied = vi.fn();
  const { session } = await openThread(server, { onReplied }, "");
  server.readMessages = async () => [FIRST[0] as ServerMessage];
  server.answer = [new ApiError(502, "model_error", "No.", { conversation_id: "con_1" })];
  await session.ask("First");
  expect(turnAt(session, -1)).toMatchObject({ questionId: "msg_1", error: { code: "model_error" } });
  expect(onReplied).toHaveBeenCalledWith("con_1");
  server.answer = ANSWER_EVENTS;
  await session.retry(turnAt(session, -1));
  expect(server.asked.at(-1)).toMatchObject({ conversationId: "con_1", options: { regenerate_of: "msg_1" } });
});

test("a question that the server refused goes back to the field", async () => {
  const server = new FakeChatServer();
  server.readMessages = async () => FIRST;
  const { session } = await openThread(server);
  server.answer = [new ApiError(422, "model_cannot_see", "No.")];
  await session.ask("Second");
  expect(session.isPutBack(turnAt(session, -1))).toBe(true);
});

test("an edit that the server refused is tried again as it was, or given up", async () => {
  const server = new FakeChatServer();
  server.readMessages = async () => FIRST;
  const { session } = await openThread(server);
  server.answer = [new ApiError(429, "rate_limited", "Wait.")];
  await session.edit(turnAt(session, 0), "First, please");
  expect(turnAt(session, -1)).toMatchObject({ isRefused: true, error: { code: "rate_limited" } });
  expect(session.isPutBack(turnAt(session, -1))).toBe(false);
  await session.retry(turnAt(session, -1));
  expect(server.asked.map(({ options }) => options)).toEqual([{ edit_of: "msg_1" }, { edit_of: "msg_1" }]);
  await session.refresh();
  expect(listTurnTexts(session)).toEqual([["First", "One."]]);
});

test("a recording becomes a question in words with its answer", async () => {
  const server = new FakeChatServer();
  server.readMessages = async () => FIRST;
  const spoken = {
    conversation_id: "con_1",
    transcription: { text: "Second" },
    message: { id: "msg_4", content: "Two." },
    finish_reason: "stop",
  } as unknown as AudioReply;
  const { session } = await openThread(server, { speak: async () => spoken });
  server.readMessages = async () => [...FIRST, ...SECOND];
  await session.speak(new Blob(["x"]));
  expect(turnAt(session, -1)).toMatchObject({ question: "Second", text: "Two.", questionId: "msg_3", isLive: false });
});

test("a recording that was refused is sent again as it was", async () => {
  const server = new FakeChatServer();
  server.readMessages = async () => FIRST;
  const speak = vi.fn(() => Promise.reject(new ApiError(413, "file_too_large", "Too large.")));
  const { session } = await openThread(server, { speak });
  const recording = new Blob(["x"]);
  await session.speak(recording);
  expect(turnAt(session, -1)).toMatchObject({ isRefused: true, error: { code: "file_too_large" } });
  await session.retry(turnAt(session, -1));
  expect(speak).toHaveBeenLastCalledWith(recording, "con_1", expect.anything());
  expect(session.getSnapshot().turns).toHaveLength(2);
  expect(session.hasUnsentRecording).toBe(true);
});

test("what a page shows of a conversation ends with the version that is open", async () => {
  const server = new FakeChatServer();
  server.readMessages = async (leaf) => (leaf ? FIRST : [...FIRST, ...SECOND]);
  const { session, leave } = await openThread(server, {}, "con_9");
  expect(findShownEnd("con_9")).toBe("msg_4");
  await session.openVersion("msg_2");
  expect(findShownEnd("con_9")).toBe("msg_2");
  leave();
  expect(findShownEnd("con_9")).toBeUndefined();
});

test("a reply that goes on after a reload has its versions at the end", async () => {
  const server = new FakeChatServer();
  server.rest = [START_EVENT, createTextEvent("Two."), ...ANSWER_EVENTS.slice(-1)];
  const session = new ThreadSession({ ...server.createOptions(), speak: () => Promise.reject(new Error()) });
  server.stored = { conversationId: "con_1", messageId: "msg_4", question: "Second", text: "Tw" };
  server.readMessages = async () => [...FIRST, ...SECOND];
  session.subscribe(() => undefined);
  await afterFrame();
  await afterFrame();
  expect(session.getSnapshot().turns.map(({ questionId }) => questionId)).toEqual(["msg_1", "msg_3"]);
});
