// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import { ApiError } from "../../api/errors";
import { checkDraftSaved, keepUnsavedDraft, trackDraftSave } from "./unsaved";

beforeEach(() => localStorage.clear());

it("waits for a save that is under way", async () => {
  const edits = { edits: { name: "A" }, etag: "1" };
  keepUnsavedDraft("agt_1", edits);
  let finish: () => void = () => undefined;
  trackDraftSave("agt_1", new Promise<void>((done) => (finish = done)));
  const checked = checkDraftSaved("agt_1");
  keepUnsavedDraft("agt_1", { ...edits, edits: {} });
  finish();
  expect(await checked).toEqual({ state: "saved", reason: "" });
});

it("says what a failed save leaves, and why", async () => {
  keepUnsavedDraft("agt_1", { edits: { name: "A" }, etag: "1" });
  trackDraftSave("agt_1", Promise.reject(new ApiError(422, "validation_error", "Name is taken.")));
  expect(await checkDraftSaved("agt_1")).toEqual({ state: "unsaved", reason: "Name is taken." });
  expect(await checkDraftSaved("agt_2")).toEqual({ state: "saved", reason: "" });
});
