/** Run something later; the function that comes back cancels it. */
export type Schedule = (run: () => void, ms: number) => () => void;

export const scheduleTimeout: Schedule = (run, ms) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};
