// @vitest-environment jsdom
import { beforeEach, expect, test } from "vitest";
import { keepUnsentMessage, mergeAttachments, prependQuestion, readUnsentMessage } from "./unsent";

const file = (id: string) => ({ file_id: id, filename: `${id}.txt`, kind: "document" as const });

beforeEach(() => sessionStorage.clear());

test("what was written comes back with its files and the names of those that broke off", () => {
  const unsent = { text: "Where?", files: [file("a")], cutFiles: ["b.pdf"] };
  keepUnsentMessage("agt_1", unsent);
  expect(readUnsentMessage("agt_1")).toEqual(unsent);
  expect(readUnsentMessage("agt_2")).toEqual({ text: "", files: [], cutFiles: [] });
  keepUnsentMessage("agt_1", { text: "", files: [], cutFiles: [] });
  expect(sessionStorage.length).toBe(0);
});

test("a question on its way is put back in front of what was written since", () => {
  keepUnsentMessage("agt_1", {
    text: "And?",
    files: [file("b")],
    cutFiles: [],
    asked: { text: "Where?", files: [file("a")] },
  });
  expect(readUnsentMessage("agt_1")).toEqual({ text: "Where?\nAnd?", files: [file("a"), file("b")], cutFiles: [] });
});

test("a question is put back once", () => {
  expect(prependQuestion("Where?", "")).toBe("Where?");
  expect(prependQuestion("Where?", "Where?")).toBe("Where?");
  expect(prependQuestion("Where?", "Where?\nAnd?")).toBe("Where?\nAnd?");
  expect(mergeAttachments([file("a")], [file("a"), file("b")])).toEqual([file("a"), file("b")]);
});

test("a store that is broken is an empty one", () => {
  sessionStorage.setItem("retinue.unsent.agt_1", "{");
  expect(readUnsentMessage("agt_1").text).toBe("");
});
