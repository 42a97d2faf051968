// @vitest-environment jsdom
import { expect, test } from "vitest";
import { createTurn, type Turn } from "../../../shared/chat/chat";
import { findVersioned, mergeStoredTurns } from "./stored_turns";

const turn = (question: string, more: Partial<Turn> = {}): Turn => ({
  ...createTurn(question),
  isLive: false,
  ...more,
});

test("stored turns stand in place of those of the page, which keep their identity and times", () => {
  const shown = turn("A", { messageId: "msg_2", tookMs: 900 });
  const [merged] = mergeStoredTurns([turn("A", { messageId: "msg_2", text: "a", questionId: "msg_1" })], [shown]);
  expect(merged).toMatchObject({ id: shown.id, tookMs: 900, text: "a", questionId: "msg_1" });
});

test("why there is no answer is not forgotten, but an answer has no reason left", () => {
  const error = { code: "model_timeout", message: "No." };
  const shown = [turn("A", { error }), turn("B", { error })];
  const merged = mergeStoredTurns([turn("A"), turn("B", { text: "b" })], shown);
  expect(merged.map((one) => one.error?.code)).toEqual(["model_timeout", undefined]);
});

test("earlier turns of the page and refused ones stay", () => {
  const shown = [
    turn("Early", { messageId: "msg_0" }),
    turn("A", { messageId: "msg_2" }),
    turn("No", { isRefused: true }),
  ];
  const merged = mergeStoredTurns([turn("A", { messageId: "msg_2" })], shown);
  expect(merged.map(({ question }) => question)).toEqual(["Early", "A", "No"]);
});

test("the same question twice keeps its order", () => {
  const shown = [turn("A", { messageId: "msg_2" }), turn("A", { messageId: "msg_4" })];
  const merged = mergeStoredTurns([turn("A", { messageId: "msg_2" }), turn("A", { messageId: "msg_4" })], shown);
  expect(merged.map(({ id }) => id)).toEqual(shown.map(({ id }) => id));
});

test("the keys walk through the versions of the last reply, then of the last question that has any", () => {
  const replied = { at: 1, of: 2, leaf_ids: ["msg_2", "msg_4"] };
  const asked = { at: 2, of: 3, leaf_ids: ["msg_6", "msg_7", "msg_8"] };
  expect(findVersioned([turn("A", { questionVersions: asked, replyVersions: replied }), turn("B")])).toEqual({
    at: 1,
    leafIds: ["msg_2", "msg_4"],
  });
  expect(findVersioned([turn("A", { questionVersions: asked })])).toMatchObject({ at: 2 });
  expect(findVersioned([turn("A", { questionVersions: { at: 1, of: 1, leaf_ids: [] } })])).toBeUndefined();
});
