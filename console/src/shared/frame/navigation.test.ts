import { describe, expect, it } from "vitest";
import { isChatFirst, isChatOnly, isEntryAllowed, NAVIGATION } from "./navigation";

const CHAT_KEYS = ["agents:chat", "conversations:read", "conversations:write", "files:read", "files:write"];
const USER = [...CHAT_KEYS, "agents:read", "approvals:read", "tools:read"];
const BUILDER = [...USER, "agents:write"];
const VIEWER = ["agents:read", "tools:read"];
const entriesOf = (permissions: string[]) =>
  NAVIGATION.flatMap((group) => group.entries)
    .filter((entry) => isEntryAllowed(entry, permissions))
    .map(({ word }) => word);

describe("the navigation", () => {
  it("begins with what waits and whom one asks", () => {
    expect(entriesOf(BUILDER).slice(0, 5)).toEqual(["home", "chat", "approvals", "inbox", "agents"]);
  });

  it("has no chat for people who may not chat", () => expect(entriesOf(VIEWER)).not.toContain("chat"));

  it("is Chat and Inbox for people who only chat, whatever else they may", () => {
    expect(entriesOf(CHAT_KEYS)).toEqual(["chat", "inbox"]);
    expect(entriesOf([...CHAT_KEYS, "approvals:read", "tools:read"])).toEqual(["chat", "inbox"]);
  });

  it("has four tabs on a phone", () => {
    const tabs = NAVIGATION.flatMap((group) => group.entries).filter((entry) => entry.isTab);
    expect(tabs.map(({ word }) => word)).toEqual(["home", "chat", "approvals", "inbox"]);
  });
});

describe.each([
  ["a builder", BUILDER, false, false],
  ["a user", USER, true, false],
  ["somebody who only chats", CHAT_KEYS, true, true],
  ["a viewer", VIEWER, false, false],
])("%s", (_, permissions, isFirst, isOnly) => {
  it("begins and stays where the role says", () =>
    expect([isChatFirst(permissions), isChatOnly(permissions)]).toEqual([isFirst, isOnly]));
});
