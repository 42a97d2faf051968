import { describe, expect, it } from "vitest";
import { ChatError } from "./chat_error";
import type { StoredFile, StoredMessage } from "./chat_types";
import { explainStoredFailure } from "./recovery";
import { type FailedQuestion, reconcileUnsent, type UnsentState } from "./unsent_message";

const NOTHING: UnsentState = { text: "", files: [], asked: null, failed: null };

const message = (role: "user" | "assistant", content: string, more: Partial<StoredMessage> = {}): StoredMessage => ({
  ...{ id: "msg_1", is_waiting: false, has_failed: false, sources: [], attachments: [] },
  ...{ role, content, ...more },
});
const asked = (content: string, more: Partial<StoredMessage> = {}) => message("user", content, more);
const failed = (isPutBack: boolean, told = "failed"): FailedQuestion => ({
  ...{ text: "Where?", files: [], mayRetry: true, isPutBack, message: told },
});
const unsent = (kept: Partial<UnsentState>, ...messages: StoredMessage[]) =>
  reconcileUnsent({ ...NOTHING, ...kept }, messages);

describe("what a visitor has written", () => {
  it("is not in the field if the service has it", () => {
    const kept = { text: "Where?", failed: failed(true) };
    expect(unsent(kept, asked("Where?", { has_failed: true }))).toEqual(NOTHING);
    const file: StoredFile = { file_id: "fil_1", filename: "a.txt" };
    const other: StoredFile = { file_id: "fil_2", filename: "b.txt" };
    const stored = asked("Where?", { has_failed: true, attachments: [file] });
    expect(unsent({ text: "Where?", files: [file, other] }, stored).files).toEqual([other]);
  });

  it("is put back with why, once more after a reload", () => {
    const kept = { text: "Where?", failed: failed(true) };
    expect(unsent(kept)).toEqual({ ...NOTHING, ...kept });
    expect(unsent({ ...kept, text: "" })).toEqual(NOTHING);
  });

  it("keeps its notice while it is stored without an end", () => {
    const lost = failed(false, "unanswered");
    expect(unsent({ failed: lost }, asked("Where?")).failed).toEqual(lost);
    expect(unsent({ failed: lost }, asked("Where?"), message("assistant", "Here."))).toEqual(NOTHING);
  });

  it("is put back and marked if it was on its way, unless the service has it", () => {
    const question = { text: "Where?", files: [] };
    const shown = unsent({ asked: question });
    expect(shown.asked).toEqual(question);
    expect(shown.failed).toMatchObject({ message: "unanswered", isPutBack: true });
    expect(unsent({ asked: question }, asked("Where?"))).toEqual(NOTHING);
  });
});

it.each([
  ["unanswered", { wasBegun: true }, "Half", [], "cutOff", true],
  ["cutOff", {}, "", [], "unanswered", true],
  ["failed", { isRefusal: true }, "", [asked("Where?", { has_failed: true })], "unanswered", true],
  ["failed", { isRefusal: true }, "", [asked("Who?", { has_failed: true })], "failed", false],
  ["cannotAnswer", { isRefusal: true }, "", [asked("Where?", { has_failed: true })], "cannotAnswer", true],
  ["unreachable", {}, "", [asked("Where?", { has_failed: true })], "unreachable", false],
])("tells a failure (%s, %j) as it is told after a reload", async (key, options, heard, messages, told, wasBegun) => {
  const conversation = { loadMessages: async () => messages };
  const error = await explainStoredFailure(new ChatError(key, options), { text: "Where?" }, heard, conversation);
  expect([(error as ChatError).message, (error as ChatError).wasBegun]).toEqual([told, wasBegun]);
});
