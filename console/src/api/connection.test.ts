// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";

const answers: (() => Promise<Response>)[] = [];
const ok = () => Promise.resolve(new Response("{}", { status: 200 }));
const refused = () => Promise.reject(new TypeError("Failed to fetch"));

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  answers.length = 0;
  vi.stubGlobal("fetch", () => (answers.shift() ?? ok)());
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("one request without an answer is no outage", async () => {
  const { isServerGone, checkServer: suspect, waitUntilServerBack: whenBack } = await import("./connection");
  answers.push(ok);
  suspect();
  await whenBack(new AbortController().signal);
  expect(isServerGone()).toBe(false);
});

test("a server that is gone is asked until it is back", async () => {
  const {
    isServerGone,
    subscribeToServer,
    checkServer: suspect,
    waitUntilServerBack: whenBack,
  } = await import("./connection");
  const heard: boolean[] = [];
  subscribeToServer(() => heard.push(isServerGone()));
  answers.push(refused, () => Promise.resolve(new Response("", { status: 503 })), ok);
  suspect();
  const back = whenBack(new AbortController().signal);
  await vi.advanceTimersByTimeAsync(100);
  expect(isServerGone()).toBe(true);
  await vi.advanceTimersByTimeAsync(10_000);
  await back;
  expect(heard).toEqual([true, false]);
});

test("whoever gives up waits no longer", async () => {
  const { checkServer: suspect, waitUntilServerBack: whenBack } = await import("./connection");
  answers.push(refused, refused, refused, refused);
  suspect();
  const control = new AbortController();
  const waited = whenBack(control.signal);
  control.abort();
  await waited;
});

test("pauses grow and end", async () => {
  const { reconnectPauseMs: pauseAfter } = await import("./connection");
  expect([1, 2, 3, 9].map((failed) => pauseAfter(failed, 0.5))).toEqual([1000, 2000, 4000, 10_000]);
});
