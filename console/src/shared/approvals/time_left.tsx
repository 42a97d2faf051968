import { useSyncExternalStore } from "react";
import { everySecond } from "../clock";
import { formatTimeLeft } from "../time";

/** The time until a request expires; it is drawn again only when its words change. */
export function TimeLeft({ until }: { until: string }) {
  return useSyncExternalStore(everySecond, () => formatTimeLeft(until, Date.now()));
}
