// @vitest-environment jsdom
import { expect, test, vi } from "vitest";
import { ApiError } from "../../../api/errors";
import {
  afterFrame,
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

test("a version that is read while a question is sent is not shown, and the question follows what is", async () => {
  const server = new FakeChatServer();
  let answerVersion: (messages: ServerMessage[]) => void = () => undefined;
  server.readMessages = (leaf) =>
    leaf ? new Promise((done) => (answerVersion = done)) : Promise.resolve([...FIRST, ...SECOND]);
  const { session } = await openThread(server);
  const opened = session.openVersion("msg_2");
  server.answer = [START_EVENT, createTextEvent("Thr"), new Promise(() => undefined)];
  void session.ask("Third");
  answerVersion(FIRST);
  await opened;
  await afterFrame();
  expect(listTurnTexts(session).map(([question]) => question)).toEqual(["First", "Second", "Third"]);
  expect(turnAt(session, -1)).toMatchObject({ isLive: true, text: "Thr" });
  expect(server.asked[0]?.options).toEqual({});
  expect(session.isOlderBranch).toBe(false);
});

test("of two versions that are opened the last one is shown, and the newest one is not an older branch", async () => {
  const server = new FakeChatServer();
  const answers: Record<string, (messages: ServerMessage[]) => void> = {};
  server.readMessages = (leaf) =>
    leaf ? new Promise((done) => (answers[leaf] = done)) : Promise.resolve([...FIRST, ...SECOND]);
  const { session } = await openThread(server);
  const both = [session.openVersion("msg_2"), session.openVersion("msg_4")];
  answers.msg_4?.([...FIRST, ...SECOND]);
  answers.msg_2?.(FIRST);
  await Promise.all(both);
  expect(session.getSnapshot().turns).toHaveLength(2);
  expect(session.isOlderBranch).toBe(false);
  const older = session.openVersion("msg_2");
  answers.msg_2?.(FIRST);
  await older;
  expect(session.isOlderBranch).toBe(true);
});

test("a version that cannot be read leaves the reply that is shown as it is", async () => {
  const server = new FakeChatServer();
  server.readMessages = async (leaf) => (leaf ? Promise.reject(new ApiError(500, "internal_error", "No.")) : FIRST);
  const { session } = await openThread(server);
  await expect(session.openVersion("msg_9")).rejects.toMatchObject({ code: "internal_error" });
  expect(turnAt(session, -1).error).toBeUndefined();
});

test("earlier messages that are asked for twice are shown once", async () => {
  const server = new FakeChatServer();
  server.readMessages = async (leaf) => (leaf === "msg_2" ? FIRST : SECOND);
  const { session } = await openThread(server);
  await Promise.all([session.readEarlier(), session.readEarlier()]);
  expect(session.getSnapshot().turns).toHaveLength(2);
});

test("a first question that was refused is discarded without asking the server", async () => {
  const server = new FakeChatServer();
  const { session } = await openThread(server, {}, "");
  const read = vi.fn(async () => []);
  server.readMessages = read;
  server.answer = [new ApiError(429, "rate_limited", "Wait.")];
  await session.ask("First");
  expect(turnAt(session, -1).isRefused).toBe(true);
  await session.refresh();
  expect(session.getSnapshot().turns).toEqual([]);
  expect(read).not.toHaveBeenCalled();
});

test("a conversation that could not be read says so, and is read on request", async () => {
  const server = new FakeChatServer();
  server.readMessages = () => Promise.reject(new ApiError(500, "internal_error", "No."));
  const { session } = await openThread(server);
  expect(session.getSnapshot().failedLoad?.error).toMatchObject({ code: "internal_error" });
  server.readMessages = async () => FIRST;
  session.getSnapshot().failedLoad?.retry();
  await afterFrame();
  expect(session.getSnapshot().failedLoad).toBeUndefined();
  expect(listTurnTexts(session)).toEqual([["First", "One."]]);
});

test.each([
  ["has it", "con_1", [...FIRST, SECOND[0] as ServerMessage], 0, 2],
  ["does not have it", "con_1", FIRST, 1, 1],
  ["knows no conversation", "", [], 1, 0],
])("a question is stopped before its reply begins: the server %s", async (_, id, stored, givenUp, turnCount) => {
  const server = new FakeChatServer();
  server.readMessages = async () => FIRST;
  const onGivenUp = vi.fn();
  const { session } = await openThread(server, { onGivenUp }, id);
  server.readMessages = async () => stored;
  server.answer = [new Promise(() => undefined)];
  const asked = session.ask("Second");
  await afterFrame();
  session.stop();
  await asked;
  expect(onGivenUp).toHaveBeenCalledTimes(givenUp);
  if (givenUp) expect(onGivenUp).toHaveBeenCalledWith(expect.objectContaining({ question: "Second" }));
  expect(session.getSnapshot().turns).toHaveLength(turnCount);
});

test("an edit that is stopped before its reply begins stays, to be sent again", async () => {
  const server = new FakeChatServer();
  server.readMessages = async () => FIRST;
  const { session } = await openThread(server);
  server.answer = [new Promise(() => undefined)];
  const asked = session.edit(turnAt(session, 0), "First, please");
  await afterFrame();
  session.stop();
  await asked;
  expect(turnAt(session, -1)).toMatchObject({ question: "First, please", isRefused: true });
});
