const createClock = (ms: number) => (listener: () => void) => {
  const timer = setInterval(listener, ms);
  return () => clearInterval(timer);
};

/** Ways to be called again and again, for values that change with the time: `useSyncExternalStore(everySecond, …)`. */
export const everySecond = createClock(1000);
export const everyHalfSecond = createClock(500);
