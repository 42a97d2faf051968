import { describe, expect, it } from "vitest";
import { findChatDay, findShownRows, groupDrawnRows, layOutChatRows } from "./chat_rows";
import type { Chat } from "./own_chats";

const WORDS = { today: "Today", yesterday: "Yesterday", thisWeek: "This week", lastWeek: "Last week" };
/** A Thursday. */
const NOW = new Date(2026, 10, 19, 9, 30);
const at = (...parts: [number, number, number, number?]) => new Date(...parts).toISOString();
const chatAt = (id: string, when: string) => ({ id, last_message_at: when }) as Chat;
const HEIGHTS = { day: 34, chat: 32 };
const layOut = (chats: Chat[]) => layOutChatRows(chats, HEIGHTS, (when) => findChatDay(when, NOW, WORDS));

describe("the heading of a chat", () => {
  it.each([
    [at(2026, 10, 19, 0), "Today"],
    [at(2026, 10, 20, 8), "Today"],
    [at(2026, 10, 18, 23), "Yesterday"],
    [at(2026, 10, 17), "This week"],
    [at(2026, 10, 16), "This week"],
    [at(2026, 10, 15), "Last week"],
    [at(2026, 10, 9), "Last week"],
    [at(2026, 10, 8), "November"],
    [at(2026, 0, 1), "January"],
    [at(2025, 11, 31), "December 2025"],
  ])("of %s is %s", (when, label) => expect(findChatDay(when, NOW, WORDS).label).toBe(label));

  it("is yesterday on a Monday, too", () => {
    const monday = new Date(2026, 10, 16, 12);
    expect(findChatDay(at(2026, 10, 15, 12), monday, WORDS).key).toBe("yesterday");
    expect(findChatDay(at(2026, 10, 14, 12), monday, WORDS).key).toBe("last-week");
  });
});

describe("the lines of the list", () => {
  it("have a heading before each day", () => {
    const { rows, height } = layOut([
      chatAt("a", at(2026, 10, 19, 8)),
      chatAt("b", at(2026, 10, 19, 7)),
      chatAt("c", at(2026, 10, 18, 7)),
    ]);
    expect(rows.map((row) => row.day?.label ?? row.chat?.id)).toEqual(["Today", "a", "b", "Yesterday", "c"]);
    expect(rows.map(({ top }) => top)).toEqual([0, 34, 66, 98, 132]);
    expect(height).toBe(164);
  });

  it("are none without a chat", () => {
    expect(layOut([])).toEqual({ rows: [], height: 0 });
    expect(findShownRows([], 0, 800)).toEqual({ from: 0, to: 0 });
  });
});

describe("of ten thousand chats", () => {
  const chats = Array.from({ length: 10_000 }, (_, i) =>
    chatAt(`chat ${i}`, new Date(NOW.getTime() - i * 1_800_000).toISOString()),
  );
  const { rows, height } = layOut(chats);

  it.each([0, 50_000, 200_000, height - 800])("only those in sight are drawn at %d", (scrolled) => {
    const { from, to } = findShownRows(rows, scrolled, 800);
    expect(to - from).toBeLessThan(60);
    expect(rows[from]?.top).toBeLessThanOrEqual(scrolled);
    expect(rows[to]?.top ?? height).toBeGreaterThanOrEqual(scrolled + 800);
  });

  it("the last is drawn at the end", () => {
    const { from, to } = findShownRows(rows, height - 800, 800);
    expect(rows.slice(from, to).at(-1)?.chat?.id).toBe("chat 9999");
  });
});

describe("the drawn lines", () => {
  it("stand by day, the first without a heading that is above", () => {
    const { rows } = layOut([
      chatAt("a", at(2026, 10, 19, 8)),
      chatAt("b", at(2026, 10, 19, 7)),
      chatAt("c", at(2026, 10, 18, 7)),
    ]);
    expect(groupDrawnRows(rows.slice(2))).toMatchObject([
      { key: "above", chats: [{ id: "b" }] },
      { key: "yesterday", label: "Yesterday", chats: [{ id: "c" }] },
    ]);
  });
});
