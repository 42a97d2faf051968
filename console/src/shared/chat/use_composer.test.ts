// @vitest-environment jsdom
import { act } from "react";
import { beforeEach, expect, test } from "vitest";
import { renderHook } from "../render_hook";
import { keepUnsentMessage, readUnsentMessage, useKeptText } from "./unsent";
import { useComposer } from "./use_composer";

const file = (id: string) => ({ file_id: id, filename: `${id}.txt`, kind: "document" as const });
const PLACE = "agt_1";

beforeEach(() => sessionStorage.clear());

test("a question that turns out to be answered goes with its files, and nothing else does", () => {
  keepUnsentMessage(PLACE, {
    text: "",
    files: [file("b")],
    cutFiles: [],
    asked: { text: "Read it", files: [file("a")] },
  });
  const composer = renderHook(() => useComposer(PLACE));
  expect(composer.now.text).toBe("Read it");
  act(() => composer.now.forget("Read it", [file("a")]));
  expect([composer.now.text, composer.now.files.stored]).toEqual(["", [file("b")]]);
  expect(readUnsentMessage(PLACE)).toEqual({ text: "", files: [file("b")], cutFiles: [] });
});

test("so does a question that was made of files only", () => {
  keepUnsentMessage(PLACE, { text: "", files: [], cutFiles: [], asked: { text: "", files: [file("a")] } });
  const composer = renderHook(() => useComposer(PLACE));
  act(() => composer.now.forget("See the attached files.", [file("a")]));
  expect(composer.now.isReady).toBe(false);
});

test("a question that gets no answer puts back its own files, not those of one before", () => {
  keepUnsentMessage(PLACE, { text: "Read it", files: [file("a")], cutFiles: [] });
  const composer = renderHook(() => useComposer(PLACE));
  act(() => void composer.now.take());
  act(() => composer.now.settle());
  act(() => composer.now.ask("Where is it?"));
  act(() => composer.now.putBack("Where is it?"));
  expect([composer.now.text, composer.now.files.stored]).toEqual(["Where is it?", []]);
});

test("an older question puts back none of the files of the one that was asked last", () => {
  keepUnsentMessage(PLACE, { text: "Read it", files: [file("a")], cutFiles: [] });
  const composer = renderHook(() => useComposer(PLACE));
  act(() => void composer.now.take());
  act(() => composer.now.putBack("Refund it"));
  expect(composer.now.files.stored).toEqual([]);
});

test("the end of an older question leaves the one that is on its way", () => {
  const kept = renderHook(() => useKeptText(PLACE));
  act(() => kept.now.ask("First"));
  act(() => kept.now.ask("Second"));
  act(() => kept.now.settle("First", true));
  expect(readUnsentMessage(PLACE).text).toBe("Second");
  act(() => kept.now.settle("Second", true));
  expect(readUnsentMessage(PLACE).text).toBe("");
});
