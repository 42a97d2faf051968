// @vitest-environment jsdom
import { expect, test } from "vitest";
import { type AttachedUpload, findAttachmentProblem, markRefusedUploads } from "./attachments";

test("files that no model can get are refused before they are sent", () => {
  expect(findAttachmentProblem({ name: "a.PNG", size: 1 })).toBeUndefined();
  expect(findAttachmentProblem({ name: "a.svg", size: 1 })).toBe("type");
  expect(findAttachmentProblem({ name: "a.pdf", size: 0 })).toBe("empty");
  expect(findAttachmentProblem({ name: "a.pdf", size: 26 * 1024 * 1024 })).toBe("size");
});

test("of a refused message only the file that the server names is marked", () => {
  const one = (key: number, isStored = true) =>
    ({ key, ...(isStored ? { stored: { file_id: String(key) } } : { problem: "type" }) }) as unknown as AttachedUpload;
  const back = markRefusedUploads([one(1), one(2, false), one(3), one(4)], { "attachments.1": "The file is damaged." });
  expect(back.map(({ key, stored, problem }) => [key, Boolean(stored), problem])).toEqual([
    [1, true, undefined],
    [2, false, "type"],
    [3, false, { message: "The file is damaged." }],
    [4, true, undefined],
  ]);
  expect(markRefusedUploads([one(1)], { reason: "x" })).toEqual([one(1)]);
});
