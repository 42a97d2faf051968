// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import { ApiError } from "../../api/errors";
import { checkSaved, keepUnsaved, noteSave } from "./unsaved";

beforeEach(() => localStorage.clear());

it("waits for a save that is under way", async () => {
  const edits = { edits: { name: "A" }, etag: "1" };
  keepUnsaved("agt_1", edits);
  let finish: () => void = () => undefined;
  noteSave("agt_1", new Promise<void>((done) => (finish = done)));
  const checked = checkSaved("agt_1");
  keepUnsaved("agt_1", { ...edits, edits: {} });
  finish();
  expect(await checked).toEqual({ state: "saved", reason: "" });
});

it("says what a failed save leaves, and why", async () => {
  keepUnsaved("agt_1", { edits: { name: "A" }, etag: "1" });
  noteSave("agt_1", Promise.reject(new ApiError(422, "validation_error", "Name is taken.")));
  expect(await checkSaved("agt_1")).toEqual({ state: "unsaved", reason: "Name is taken." });
  expect(await checkSaved("agt_2")).toEqual({ state: "saved", reason: "" });
});
