// @vitest-environment jsdom
import { QueryClient } from "@tanstack/react-query";
import { describe, expect, it } from "vitest";
import { readChatIdFromPath, readChatSearch } from "./chat_address";
import { type ChatAgent, findChatAgents } from "./chat_agents";
import { type Chat, changeListedChat, findNextPage, mergeChatPages } from "./own_chats";

const chat = (id: string, title = id) => ({ id, title, last_message_at: `at ${id}` }) as Chat;
const page = (data: Chat[]) => ({ data, pagination: { page: 1, per_page: 100, total: data.length, total_pages: 1 } });
const full = page(Array.from({ length: 100 }, (_, i) => chat(String(i))));

describe("pages of chats", () => {
  it("overlap, and the newer page is right", () => {
    const merged = mergeChatPages([
      [chat("b", "went on"), chat("a")],
      [chat("a", "old"), chat("b", "old"), chat("c")],
    ]);
    expect(merged.map(({ title }) => title)).toEqual(["went on", "a", "c"]);
  });

  it("go on where a full page ends", () => {
    expect(findNextPage(full)).toBe("at 99");
    expect(findNextPage(page([chat("a")]))).toBeUndefined();
    // A page of one moment would be read for ever.
    expect(findNextPage(full, undefined, "at 99")).toBeUndefined();
  });
});

describe("a change", () => {
  const client = new QueryClient();
  const [newest, older] = [
    ["chat", "own", { view: "own" }],
    ["older-chats", { view: "own" }],
  ];
  client.setQueryData(newest, page([chat("a"), chat("b")]));
  client.setQueryData(older, { pages: [page([chat("b"), chat("c")])], pageParams: ["x"] });
  const titles = () => [
    client.getQueryData<ReturnType<typeof page>>(newest)?.data.map(({ title }) => title),
    client
      .getQueryData<{ pages: ReturnType<typeof page>[] }>(older)
      ?.pages.flatMap(({ data }) => data.map((one) => one.title)),
  ];

  it("shows in every list that holds the chat", () => {
    changeListedChat(client, "b", { title: "The dimmer" });
    expect(titles()).toEqual([
      ["a", "The dimmer"],
      ["The dimmer", "c"],
    ]);
  });

  it("takes it out of them", () => {
    changeListedChat(client, "b", null);
    expect(titles()).toEqual([["a"], ["c"]]);
  });
});

describe("an agent", () => {
  const agents = [
    { name: "Lamp desk", description: "Bulbs" },
    { name: "Order clerk", description: "Refunds" },
  ] as ChatAgent[];

  it.each([
    ["lamp", ["Lamp desk"]],
    [" refunds ", ["Order clerk"]],
    ["", ["Lamp desk", "Order clerk"]],
    ["x", []],
  ])("is found by %j", (text, names) => expect(findChatAgents(agents, text).map(({ name }) => name)).toEqual(names));
});

describe("the address", () => {
  it("names the open chat", () => {
    expect(readChatIdFromPath("/chat/conv_1")).toBe("conv_1");
    expect(readChatIdFromPath("/chat")).toBeUndefined();
    expect(readChatIdFromPath("/conversations/conv_1")).toBeUndefined();
  });

  it("holds what it can mean", () => {
    expect(readChatSearch({ list: true, agent: "agt_1", source: 2, other: 1 })).toEqual({
      list: true,
      agent: "agt_1",
      source: "2",
    });
    expect(readChatSearch({ list: "no", agent: "" })).toEqual({});
  });
});
