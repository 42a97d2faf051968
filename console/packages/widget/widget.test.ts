// @vitest-environment jsdom
import { selectWidgetWords } from "@retinue/words/widget";
import { expect, it } from "vitest";
import type { Design } from "./chat_types";
import { PublicConversation } from "./conversation";
import { resolveWidgetLook } from "./look";
import { groupCitedDocuments } from "./message_log";

it("makes a session once, and anew when asked", () => {
  const to = { baseUrl: "", agentId: "agt_1", apiKey: "emb_1", user: null };
  const first = new PublicConversation(to).sessionId;
  const again = new PublicConversation(to);
  const other = new PublicConversation({ ...to, user: { id: "ada" } }).sessionId;
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(again.sessionId).toBe(first);
  const anew = again.startAnew();
  expect(new PublicConversation(to).sessionId).toBe(anew);
  expect(new Set([first, other, anew]).size).toBe(3);
});

it("takes an attribute over the design, and the design over its own", () => {
  const look = (attributes: Record<string, string>, design: Design | null) =>
    resolveWidgetLook({ getAttribute: (name) => attributes[name] ?? null }, design, selectWidgetWords("de-AT"));
  const settings: Design["settings"] = { title: "Designed", accent: "#0a6d76", scheme: "dark", suggestions: ["One"] };
  const design = { agent: { name: "Clerk" }, settings };
  expect(look({}, { agent: { name: "Clerk" }, settings: {} })).toMatchObject({
    ...{ title: "Clerk", placeholder: "Nachricht schreiben", accent: null },
  });
  expect(look({}, design)).toMatchObject({ title: "Designed", onAccent: "#ffffff", suggestions: ["One"] });
  const tag = { title: "Tagged", suggestions: "A | B |", "on-accent": "#000000", position: "left" };
  expect(look(tag, design)).toMatchObject({
    ...{ title: "Tagged", suggestions: ["A", "B"], onAccent: "#000000", position: "left", scheme: "dark" },
  });
  expect(look({ accent: "red;}", scheme: "light" }, null)).toMatchObject({
    ...{ accent: null, onAccent: null, scheme: "light" },
  });
});

it("lists a document once, and only if the reply cites it", () => {
  const sources = ["faq.txt", "prices.txt", "faq.txt", "secret.txt"].map((document_name, at) => ({
    ...{ index: at + 1, document_name, chunk_preview: "", page: null, url: null },
  }));
  const shown = ["Yes [1], and [3].", "[1, 2]", "Nothing cited.", "", "A list: x[0], [99]"].map((text) =>
    groupCitedDocuments(sources, text).map((all) => all.map(({ index }) => index)),
  );
  expect(shown).toEqual([[[1, 3]], [[1], [2]], [], [], []]);
});
