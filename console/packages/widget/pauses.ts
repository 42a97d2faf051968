const stopped = () => new DOMException("stopped", "AbortError");

export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    const stop = () => {
      clearTimeout(timer);
      reject(stopped());
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Wait until the page is looked at. */
export function whileHidden(signal?: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const done = new AbortController();
    const finish = (settle: () => void) => {
      done.abort();
      settle();
    };
    const look = () => document.hidden || finish(resolve);
    document.addEventListener("visibilitychange", look, { signal: done.signal });
    signal?.addEventListener("abort", () => finish(() => reject(stopped())), { signal: done.signal });
  });
}
