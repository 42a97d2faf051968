import { useEffect, useState } from "react";
import { left } from "../../shared/time";

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

/** The time until a request expires; its last minute is counted in seconds. */
export function TimeLeft({ until }: { until: string }) {
  const [now, setNow] = useState(Date.now);
  const rest = Date.parse(until) - now;
  useEffect(() => {
    if (rest <= 0) return;
    const isLast = rest <= MINUTE_MS + SECOND_MS;
    const timer = setTimeout(() => setNow(Date.now()), isLast ? SECOND_MS : Math.min(MINUTE_MS, rest - MINUTE_MS));
    return () => clearTimeout(timer);
  }, [rest]);
  return <>{left(until, now)}</>;
}
