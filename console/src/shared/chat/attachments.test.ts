import { expect, test } from "vitest";
import { kindOf, problemOf } from "./attachments";

test("files that no model can get are refused before they are sent", () => {
  expect(problemOf({ name: "a.PNG", size: 1 })).toBeUndefined();
  expect(problemOf({ name: "a.svg", size: 1 })).toBe("type");
  expect(problemOf({ name: "a.pdf", size: 0 })).toBe("empty");
  expect(problemOf({ name: "a.pdf", size: 26 * 1024 * 1024 })).toBe("size");
});

test("a kind follows from the name", () => {
  expect(["a.jpeg", "a.mp3", "a.docx"].map(kindOf)).toEqual(["image", "audio", "document"]);
});
