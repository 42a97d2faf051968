const createAbortError = () => new DOMException("stopped", "AbortError");

export function waitMilliseconds(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    const abortPause = () => {
      clearTimeout(timer);
      reject(createAbortError());
    };
    signal?.addEventListener("abort", abortPause, { once: true });
  });
}

/** Wait until the page is looked at. */
export function waitWhileHidden(signal?: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const done = new AbortController();
    const finishWaiting = (settle: () => void) => {
      done.abort();
      settle();
    };
    const checkVisibility = () => document.hidden || finishWaiting(resolve);
    document.addEventListener("visibilitychange", checkVisibility, { signal: done.signal });
    signal?.addEventListener("abort", () => finishWaiting(() => reject(createAbortError())), { signal: done.signal });
  });
}
