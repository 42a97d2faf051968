import { expect, it } from "vitest";
import { dropSentEdits } from "./sent_edits";

it("keeps what was entered while a save was under way", () => {
  const sent = { title: "Help", lead: "Ask us" };
  expect(dropSentEdits({ ...sent, title: "Help desk" }, sent)).toEqual({ title: "Help desk" });
  expect(dropSentEdits({ ...sent, accent: "#123456" } as object, sent)).toEqual({ accent: "#123456" });
  expect(dropSentEdits(sent, sent)).toEqual({});
});
