// @vitest-environment jsdom
import { expect, test, vi } from "vitest";
import { ApiError, createUnreachableError } from "../../api/errors";
import {
  ANSWER_EVENTS,
  afterFrame,
  createChatEvent,
  createStoredMessage,
  createTextEvent,
  END_EVENT,
  FakeChatServer,
  lastTurnOf,
  listTurnErrors,
  listTurnTexts,
  START_EVENT,
} from "./fake_chat_server";

const HISTORY = [createStoredMessage("msg_1", "user", "First"), createStoredMessage("msg_2", "assistant", "One.")];
const FILE = { file_id: "fil_1", filename: "a.txt", kind: "document" as const };
const forever = () => new Promise<void>(() => undefined);

test("a question shows its reply as it is written, and the tab remembers it until its end", async () => {
  const server = new FakeChatServer();
  const onKept = vi.fn();
  let goOn = () => {};
  const pause = new Promise<void>((done) => {
    goOn = done;
  });
  server.answer = [START_EVENT, createTextEvent("Tw"), pause, createTextEvent("o."), END_EVENT];
  const { session } = server.openSession({ onKept });
  const sent = session.send("Second");
  expect(lastTurnOf(session)).toMatchObject({ question: "Second", text: "", isLive: true });
  await afterFrame();
  expect(lastTurnOf(session)).toMatchObject({ text: "Tw", isLive: true, messageId: "msg_4" });
  expect(onKept).toHaveBeenCalledOnce();
  expect(server.stored).toMatchObject({ conversationId: "con_1", messageId: "msg_4", question: "Second" });
  goOn();
  await sent;
  expect(lastTurnOf(session)).toMatchObject({ text: "Two.", isLive: false });
  expect(server.stored).toEqual({ conversationId: "con_1" });
});

test("the next question continues the conversation, with its options and files", async () => {
  const server = new FakeChatServer();
  const { session } = server.openSession();
  await session.send("First");
  await session.send("Second", { attachments: [FILE], options: { version: "draft" } });
  expect(server.asked).toEqual([
    { question: "First", conversationId: "", options: {} },
    {
      question: "Second",
      conversationId: "con_1",
      options: { version: "draft", attachments: [{ file_id: "fil_1" }] },
    },
  ]);
});

test("a conversation that continues another one names it until it has begun", async () => {
  const server = new FakeChatServer();
  server.stored = { conversationId: "con_1" };
  server.readMessages = async () => HISTORY;
  const { session } = server.openSession({ from: "con_0" });
  await afterFrame();
  expect(listTurnTexts(session)).toEqual([["First", "One."]]);
  await session.send("Second");
  await session.send("Third");
  expect(server.asked.map(({ conversationId, options }) => [conversationId, options])).toEqual([
    ["", { from_conversation_id: "con_0" }],
    ["con_1", {}],
  ]);
});

test("nothing is asked if what comes first fails", async () => {
  const server = new FakeChatServer();
  const onUnanswered = vi.fn();
  const { session } = server.openSession({ onUnanswered });
  await session.send("Second", { beforeSend: () => Promise.reject(createUnreachableError()) });
  expect(server.asked).toEqual([]);
  expect(lastTurnOf(session)).toMatchObject({ isLive: false, isRefused: true, error: { code: "server_gone" } });
  expect(onUnanswered).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ question: "Second" }),
    expect.objectContaining({ code: "server_gone" }),
  );
});

test("a question that the server refused goes with the next one", async () => {
  const server = new FakeChatServer();
  server.answer = [new ApiError(422, "validation_error", "No.")];
  const { session } = server.openSession();
  await session.send("Second");
  expect(listTurnErrors(session)).toEqual([["Second", "validation_error"]]);
  server.answer = ANSWER_EVENTS;
  await session.send("Third");
  expect(listTurnTexts(session)).toEqual([["Third", "Two."]]);
});

test("after a failure that names where the question is kept, the next question goes on there", async () => {
  const server = new FakeChatServer();
  server.answer = [new ApiError(502, "model_error", "No.", { conversation_id: "con_1" })];
  const { session } = server.openSession();
  await session.send("First");
  expect(server.stored).toEqual({ conversationId: "con_1" });
  server.answer = ANSWER_EVENTS;
  await session.send("Second");
  expect(server.asked.at(-1)).toMatchObject({ conversationId: "con_1" });
  expect(listTurnErrors(session).at(0)).toEqual(["First", "model_error"]);
});

test("a conversation that is gone is not asked for again", async () => {
  const server = new FakeChatServer();
  const { session } = server.openSession();
  await session.send("First");
  server.answer = [new ApiError(404, "conversation_not_found", "Gone.")];
  await session.send("Second");
  server.answer = ANSWER_EVENTS;
  await session.send("Second");
  expect(server.asked.map(({ conversationId }) => conversationId)).toEqual(["", "con_1", ""]);
  expect(server.stored).toEqual({ conversationId: "con_1" });
});

test("a reply that ends in an error is handed back and stays", async () => {
  const server = new FakeChatServer();
  server.answer = [
    START_EVENT,
    createTextEvent("Tw"),
    createChatEvent("error", { code: "model_failed", message: "No." }),
  ];
  const onUnanswered = vi.fn();
  const { session } = server.openSession({ onUnanswered });
  await session.send("Second");
  expect(onUnanswered).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ text: "Tw" }),
    expect.objectContaining({ code: "model_failed" }),
  );
  server.answer = ANSWER_EVENTS;
  await session.send("Second");
  expect(listTurnTexts(session)).toEqual([
    ["Second", "Tw"],
    ["Second", "Two."],
  ]);
});

test("a reply that is stopped ends when the server says so", async () => {
  const server = new FakeChatServer();
  let end = () => {};
  const stopped = new Promise<void>((done) => {
    end = done;
  });
  server.answer = [
    START_EVENT,
    createTextEvent("Tw"),
    stopped,
    createChatEvent("message_stop", { finish_reason: "stopped" }),
  ];
  const { session } = server.openSession();
  const sent = session.send("Second");
  await afterFrame();
  session.stop();
  await afterFrame();
  expect(server.stopped).toEqual(["msg_4"]);
  expect(lastTurnOf(session)?.isLive).toBe(true);
  end();
  await sent;
  expect(lastTurnOf(session)).toMatchObject({ text: "Tw", isLive: false, stop: { finish_reason: "stopped" } });
});

test("a reply of a server that does not stop it is no longer waited for", async () => {
  const server = new FakeChatServer();
  const onUnanswered = vi.fn();
  server.answer = [START_EVENT, createTextEvent("Tw"), forever(), END_EVENT];
  server.stopAnswer = () => Promise.reject(createUnreachableError());
  const { session } = server.openSession({ onUnanswered });
  const sent = session.send("Second");
  await afterFrame();
  session.stop();
  await afterFrame();
  expect(server.scheduled.map(({ ms }) => ms)).toEqual([3000]);
  server.scheduled[0]?.run();
  await sent;
  expect(lastTurnOf(session)).toMatchObject({ text: "Tw", isLive: false });
  expect(onUnanswered).not.toHaveBeenCalled();
});

test("a question that the server has not begun to answer is given up at once", async () => {
  const server = new FakeChatServer();
  server.answer = [forever(), START_EVENT];
  const { session } = server.openSession();
  const sent = session.send("Second");
  await afterFrame();
  session.stop();
  await sent;
  expect(server.stopped).toEqual([]);
  expect(lastTurnOf(session)?.isLive).toBe(false);
});

test("a reply whose connection breaks continues after its last event", async () => {
  const server = new FakeChatServer();
  server.answer = [START_EVENT, createTextEvent("Tw"), createUnreachableError()];
  server.rest = [createTextEvent("o."), END_EVENT];
  const { session } = server.openSession();
  const sent = session.send("Second");
  await sent;
  expect(server.resumed).toEqual([{ messageId: "msg_4", afterEvent: "content_delta" }]);
  expect(lastTurnOf(session)).toMatchObject({ text: "Two.", isLive: false, isLost: false });
});

test("what came of a reply that the server has lost is kept", async () => {
  const server = new FakeChatServer();
  server.answer = [START_EVENT, createTextEvent("Tw"), createUnreachableError()];
  server.rest = [new ApiError(410, "stream_expired", "Lost.")];
  const { session } = server.openSession();
  await session.send("Second");
  expect(lastTurnOf(session)).toMatchObject({ text: "Tw", error: { code: "stream_expired" }, isRefused: false });
  expect(server.stored).toMatchObject({ messageId: "msg_4", text: "Tw" });
});

test("a new conversation drops the reply that is being written", async () => {
  const server = new FakeChatServer();
  server.answer = [START_EVENT, createTextEvent("Tw"), forever()];
  const onUnanswered = vi.fn();
  const { session } = server.openSession({ onUnanswered });
  const sent = session.send("Second");
  await afterFrame();
  session.reset();
  await sent;
  expect(session.getSnapshot().turns).toEqual([]);
  expect(server.stored).toBeUndefined();
  expect(onUnanswered).not.toHaveBeenCalled();
  server.answer = ANSWER_EVENTS;
  await session.send("Third");
  expect(server.asked.at(-1)?.conversationId).toBe("");
});

test("a page that is left no longer reads, and keeps what a return needs", async () => {
  const server = new FakeChatServer();
  server.answer = [START_EVENT, createTextEvent("Tw"), forever()];
  const onUnanswered = vi.fn();
  const { session, leave } = server.openSession({ onUnanswered });
  const sent = session.send("Second");
  await afterFrame();
  leave();
  await sent;
  expect(onUnanswered).not.toHaveBeenCalled();
  expect(server.stored).toMatchObject({ messageId: "msg_4", question: "Second" });
});

test("a rating shows at once, and goes if the server refuses it", async () => {
  const server = new FakeChatServer();
  const { session } = server.openSession();
  await session.send("Second");
  const turn = lastTurnOf(session);
  if (!turn) throw new Error("There is no turn.");
  await session.rate(turn, { rating: "positive", comment: "Good" });
  expect(server.rated).toEqual([["msg_4", { rating: "positive", comment: "Good" }]]);
  expect(lastTurnOf(session)?.feedback?.rating).toBe("positive");
  server.rateAnswer = () => Promise.reject(new ApiError(403, "forbidden", "No."));
  await session.rate({ ...turn, feedback: { rating: "positive" } }, { rating: "negative" });
  expect(lastTurnOf(session)?.feedback?.rating).toBe("positive");
});
