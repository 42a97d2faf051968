import { basePath } from "./base";
import { createUnreachableError } from "./errors";

const FIRST_MS = 1000;
const MAX_PAUSE_MS = 10_000;
const ANSWER_TIMEOUT_MS = 5000;
/** A server that is gone again this soon has never been back: the pauses go on growing. */
const SETTLED_MS = 30_000;

let isGone = false;
let checking: Promise<void> | undefined;
let failures = 0;
let backAt = 0;
let wake: (() => void) | undefined;
const listeners = new Set<() => void>();

/** Whether the server does not answer at this moment. */
export const isServerGone = () => isGone;
export function subscribeToServer(listener: () => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function setServerGone(gone: boolean) {
  if (isGone === gone) return;
  isGone = gone;
  for (const listener of listeners) listener();
}

/** How long to wait before the next question, a little different in each tab: they do not come back all at once. */
export const reconnectPauseMs = (failed: number, chance = Math.random()) =>
  Math.min(MAX_PAUSE_MS, FIRST_MS * 2 ** (failed - 1)) * (0.8 + 0.4 * chance);

async function isServerAnswering(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const response = await fetch(`${basePath}/health`, { cache: "no-store", credentials: "omit", signal });
    return response.ok;
  } catch {
    return false;
  }
}

/** Wait, unless the network comes back or the tab is looked at again. */
const waitUntilAwake = (ms: number) =>
  new Promise<void>((done) => {
    const timer = setTimeout(done, ms);
    wake = () => {
      clearTimeout(timer);
      done();
    };
  });

async function waitForServer() {
  if (Date.now() - backAt > SETTLED_MS) failures = 0;
  while (!(await isServerAnswering())) {
    setServerGone(true);
    failures += 1;
    await waitUntilAwake(reconnectPauseMs(failures));
  }
  backAt = Date.now();
  setServerGone(false);
}

/** A request got no answer: find out whether the server is gone, and if so ask until it is back. */
export function checkServer() {
  checking ??= waitForServer().finally(() => {
    checking = undefined;
  });
}

/** Resolves when the server answers: at once if nobody doubts it. */
export async function waitUntilServerBack(signal: AbortSignal): Promise<void> {
  if (!checking || signal.aborted) return;
  const aborted = new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
  await Promise.race([checking, aborted]);
}

/** What a request without an answer fails with. */
export function noteLostRequest() {
  checkServer();
  return createUnreachableError();
}

if (typeof window !== "undefined") {
  window.addEventListener("online", () => wake?.());
  document.addEventListener("visibilitychange", () => document.hidden || wake?.());
}
