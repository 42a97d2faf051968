import { expect, it } from "vitest";
import { attachmentKindOf, findAttachmentDetail, isAttachable } from "./attachment_limits";

it("knows files by the end of their names", () => {
  expect(["a.PNG", "b.docx", "c.mp3", "d.exe", "png"].map(isAttachable)).toEqual([true, true, true, false, false]);
  expect(["a.PNG", "b.docx", "c.mp3"].map(attachmentKindOf)).toEqual(["image", "document", "audio"]);
});

it("finds what a refusal says about a file", () => {
  const details = { "attachments.1": "is damaged", reason: "x" };
  expect([0, 1].map((place) => findAttachmentDetail(details, place))).toEqual([undefined, "is damaged"]);
  expect(findAttachmentDetail(undefined, 0)).toBeUndefined();
});
