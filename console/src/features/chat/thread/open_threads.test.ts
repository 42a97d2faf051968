// @vitest-environment jsdom
import { expect, test } from "vitest";
import { createTurn, type Turn } from "../../../shared/chat/chat";
import { Store } from "../../../shared/store";
import { readOpenSource } from "./open_source";
import { OpenThreads } from "./open_threads";

class Session extends Store<{ turns: Turn[] }> {
  isActive = false;
  hasUnsentRecording = false;
  end() {
    this.update({ turns: this.getSnapshot().turns.map((turn) => ({ ...turn, isLive: false })) });
  }
  protected override activate() {
    this.isActive = true;
  }
  protected override deactivate() {
    this.isActive = false;
  }
}

test("a reply is read to its end after its page was left", async () => {
  const threads = new OpenThreads<{ session: Session }>();
  const thread = { session: new Session({ turns: [createTurn("A")] }) };
  const leavePage = thread.session.subscribe(() => undefined);
  const writing: boolean[] = [];
  threads.keep("con_1", thread, (isWriting) => writing.push(isWriting));
  leavePage();
  expect(thread.session.isActive).toBe(true);
  expect(threads.find("con_1")).toBe(thread);
  thread.session.end();
  await Promise.resolve();
  expect(thread.session.isActive).toBe(false);
  expect(threads.find("con_1")).toBeUndefined();
  expect(writing).toEqual([true, false]);
});

test("a recording that was refused waits for its chat to be opened again; one without a chat cannot", () => {
  const threads = new OpenThreads<{ session: Session }>();
  for (const [id, isActive] of [
    ["con_1", true],
    ["", false],
  ] as const) {
    const thread = { session: new Session({ turns: [createTurn("")] }) };
    threads.keep(id, thread, () => undefined);
    thread.session.hasUnsentRecording = true;
    thread.session.end();
    expect(threads.find(id)).toBe(isActive ? thread : undefined);
  }
});

test.each([
  ["msg_1.2", { messageId: "msg_1", index: 2 }],
  ["msg_1", undefined],
  ["msg_1.0", undefined],
  [undefined, undefined],
])("the address %s names a source", (text, source) => {
  expect(readOpenSource(text)).toEqual(source);
});
