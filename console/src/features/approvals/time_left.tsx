import { useSyncExternalStore } from "react";
import { everySecond } from "../../shared/clock";
import { timeLeft } from "../../shared/time";

/** The time until a request expires; it is drawn again only when its words change. */
export function TimeLeft({ until }: { until: string }) {
  return useSyncExternalStore(everySecond, () => timeLeft(until, Date.now()));
}
