// @vitest-environment jsdom
import { expect, test, vi } from "vitest";
import { ApiError, createUnreachableError } from "../../api/errors";
import {
  afterFrame,
  createStoredMessage,
  FakeChatServer,
  lastTurnOf,
  listTurnErrors,
  listTurnTexts,
  type ServerMessage,
} from "./fake_chat_server";
import type { StoredChat } from "./stored_chat";

const HISTORY = [createStoredMessage("msg_1", "user", "First"), createStoredMessage("msg_2", "assistant", "One.")];
const STORED: StoredChat = { conversationId: "con_1" };
const WRITING = { ...STORED, messageId: "msg_4", question: "Second", text: "Tw" };
const FILE = { file_id: "fil_1", filename: "a.txt", kind: "document" as const };
const GONE = new ApiError(404, "conversation_not_found", "Gone.");
const forever = () => new Promise<void>(() => undefined);

test("after a reload the reply that was being written continues, below what was said before", async () => {
  const server = new FakeChatServer();
  server.stored = WRITING;
  server.readMessages = async () => [...HISTORY, createStoredMessage("msg_3", "user", "Second")];
  const { session } = server.openSession();
  expect(listTurnTexts(session)).toEqual([["Second", "Tw"]]);
  await afterFrame();
  expect(server.resumed).toEqual([{ messageId: "msg_4", afterEvent: "0" }]);
  expect(listTurnTexts(session)).toEqual([
    ["First", "One."],
    ["Second", "Two."],
  ]);
  expect(server.stored).toEqual(STORED);
});

test("a reply that ended during the reload is shown as it is stored", async () => {
  const server = new FakeChatServer();
  server.stored = WRITING;
  server.rest = [forever()];
  server.readMessages = async () => [
    createStoredMessage("msg_3", "user", "Second"),
    createStoredMessage("msg_4", "assistant", "Two!"),
  ];
  const { session } = server.openSession();
  await afterFrame();
  expect(listTurnTexts(session)).toEqual([["Second", "Two!"]]);
  expect(lastTurnOf(session)?.isLive).toBe(false);
  expect(server.stored).toEqual(STORED);
});

test("a question that is asked while the history is being read continues it and stays", async () => {
  const server = new FakeChatServer();
  server.stored = STORED;
  let answerHistory: (messages: ServerMessage[]) => void = () => undefined;
  server.readMessages = () => new Promise((done) => (answerHistory = done));
  const { session } = server.openSession();
  await session.send("Second");
  answerHistory([...HISTORY, createStoredMessage("msg_3", "user", "Second")]);
  await afterFrame();
  expect(server.asked).toMatchObject([{ question: "Second", conversationId: "con_1" }]);
  expect(listTurnTexts(session)).toEqual([
    ["First", "One."],
    ["Second", "Two."],
  ]);
});

test("a conversation that is no longer there is forgotten", async () => {
  const server = new FakeChatServer();
  server.stored = STORED;
  server.readMessages = () => Promise.reject(GONE);
  const { session } = server.openSession();
  await afterFrame();
  expect(server.stored).toBeUndefined();
  await session.send("Second");
  expect(server.asked[0]?.conversationId).toBe("");
});

test("a history that cannot be read now is read again once the server is back", async () => {
  const server = new FakeChatServer();
  server.stored = STORED;
  const answers = [() => Promise.reject(createUnreachableError()), async () => HISTORY];
  server.readMessages = () => answers.shift()?.() ?? Promise.reject(createUnreachableError());
  const { session } = server.openSession();
  await afterFrame();
  expect(server.suspectCount).toBe(1);
  expect(listTurnTexts(session)).toEqual([["First", "One."]]);
});

test("a history that comes after a new conversation was begun is not shown", async () => {
  const server = new FakeChatServer();
  server.stored = STORED;
  let answerHistory: (messages: ServerMessage[]) => void = () => undefined;
  server.readMessages = () => new Promise((done) => (answerHistory = done));
  const { session } = server.openSession();
  session.reset();
  answerHistory(HISTORY);
  await afterFrame();
  expect(session.getSnapshot().turns).toEqual([]);
  expect(server.stored).toBeUndefined();
});

test("what was answered last is told with its files", async () => {
  const server = new FakeChatServer();
  server.stored = STORED;
  const onAnswered = vi.fn();
  server.readMessages = async () => [
    { ...HISTORY[0], attachments: [FILE] } as ServerMessage,
    HISTORY[1] as ServerMessage,
  ];
  server.openSession({ onAnswered });
  await afterFrame();
  expect(onAnswered).toHaveBeenCalledExactlyOnceWith("First", [FILE]);
});

const REFUSED = { question: "Second", attachments: [], error: { code: "server_gone", message: "Gone." } };

test.each([
  ["does not have it", []],
  ["has it without an answer", [createStoredMessage("msg_3", "user", "Second")]],
])("a question that got no answer keeps its notice after a reload: the server %s", async (_, more) => {
  const server = new FakeChatServer();
  server.stored = STORED;
  server.readMessages = async () => [...HISTORY, ...more];
  const { session } = server.openSession({ refused: REFUSED });
  expect(listTurnErrors(session)).toEqual([["Second", "server_gone"]]);
  await afterFrame();
  expect(listTurnErrors(session)).toEqual([
    ["First", undefined],
    ["Second", "server_gone"],
  ]);
  await session.send("Second");
  expect(listTurnErrors(session)).toEqual([
    ["First", undefined],
    ["Second", undefined],
  ]);
});

test("a question that was answered after all loses its notice", async () => {
  const server = new FakeChatServer();
  server.stored = STORED;
  server.readMessages = async () => HISTORY;
  const { session } = server.openSession({ refused: { ...REFUSED, question: "First" } });
  await afterFrame();
  expect(listTurnErrors(session)).toEqual([["First", undefined]]);
});
