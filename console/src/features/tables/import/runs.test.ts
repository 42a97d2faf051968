// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const get = vi.hoisted(() => vi.fn());
vi.mock("../../../api/client", () => ({
  api: { GET: get },
  unwrapData: (answer: Promise<unknown>) => answer,
}));
vi.mock("../../../api/upload", () => ({ uploadForm: vi.fn() }));
vi.resetModules();
const { ApiError } = await import("../../../api/errors");
const { followRun } = await import("./runs");

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  get.mockReset();
});
const follow = () => followRun("tbl", "job", { isDry: false, signal: new AbortController().signal });

it("goes on with an import when one poll gets no answer", async () => {
  get
    .mockRejectedValueOnce(new ApiError(0, "server_gone", "Gone."))
    .mockResolvedValueOnce({ data: { status: "running" } })
    .mockResolvedValueOnce({ data: { status: "completed" } });
  const run = follow();
  await vi.runAllTimersAsync();
  expect(await run).toEqual({ status: "completed" });
});

it("gives up at once on an import that is not there", async () => {
  get.mockRejectedValue(new ApiError(404, "not_found", "Not found."));
  await expect(follow()).rejects.toThrow("Not found.");
  expect(get).toHaveBeenCalledTimes(1);
});

it("gives up when nothing answers for long", async () => {
  get.mockRejectedValue(new ApiError(0, "server_gone", "Gone."));
  const end = expect(follow()).rejects.toThrow("Gone.");
  await vi.runAllTimersAsync();
  await end;
});
