// @vitest-environment jsdom
import { QueryObserver } from "@tanstack/react-query";
import { expect, it, vi } from "vitest";
import { ApiError } from "./errors";
import { createQueryClient, refetchShownQueries } from "./queries";

const retry = createQueryClient().getDefaultOptions().queries?.retry as (count: number, error: Error) => boolean;
const refused = (status: number, seconds = 0, isOwnLimit = false) =>
  new ApiError(status, "x", "x", {}, "", seconds, isOwnLimit);

it("tries again what may be gone in a moment, and does not wait for a limit of the day", () => {
  expect([0, 404, 500, 502].map((status) => retry(0, refused(status)))).toEqual([true, false, false, true]);
  expect([12, 60, 61, 40_000].map((seconds) => retry(0, refused(429, seconds)))).toEqual([true, true, false, false]);
  expect([12, 40_000].map((seconds) => retry(0, refused(429, seconds, true)))).toEqual([true, false]);
  expect(retry(2, refused(502))).toBe(false);
});

it("asks after an outage for all that is shown, and not only for what failed", async () => {
  const client = createQueryClient();
  const read = vi.fn(async () => "fresh");
  client.setQueryData(["shown"], "before");
  client.setQueryData(["left"], "before");
  const over = new QueryObserver(client, { queryKey: ["shown"], queryFn: read }).subscribe(() => undefined);
  await refetchShownQueries(client);
  expect(read).toHaveBeenCalledOnce();
  expect(client.getQueryData(["shown"])).toBe("fresh");
  expect(client.getQueryState(["left"])?.isInvalidated).toBe(true);
  over();
});
