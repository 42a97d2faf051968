// @vitest-environment jsdom
import { afterEach, expect, it, vi } from "vitest";

const post = vi.hoisted(() => vi.fn());
vi.mock("../../api/client", () => ({
  api: { POST: post },
  unwrapData: (answer: Promise<unknown>) => answer,
}));
vi.resetModules();
const { ApiError } = await import("../../api/errors");
const { deleteTableRows, restoreDeletedRows } = await import("./queries");

afterEach(() => post.mockReset());
const refused = new ApiError(503, "busy", "Busy.");
const ids = Array.from({ length: 250 }, (_, at) => `row_${at}`);

it("keeps how to put rows back when a later part of a deletion is refused", async () => {
  post.mockResolvedValueOnce({ data: { deletion_id: "del_1", deleted: 200 } }).mockRejectedValueOnce(refused);
  expect(await deleteTableRows("tbl", ids)).toEqual({
    deletions: ["del_1"],
    count: 200,
    left: ids.slice(200),
    error: refused,
  });
});

it("names no deletion where nothing was deleted", async () => {
  post.mockResolvedValueOnce({ data: { deletion_id: null, deleted: 0 } });
  expect(await deleteTableRows("tbl", ["row_1"])).toEqual({ deletions: [], count: 0, left: [] });
});

it("does not put back twice what was put back before a refusal", async () => {
  const deletions = ["del_1", "del_2"];
  post.mockResolvedValueOnce({}).mockRejectedValueOnce(refused);
  await expect(restoreDeletedRows("tbl", deletions)).rejects.toBe(refused);
  expect(deletions).toEqual(["del_2"]);
});
