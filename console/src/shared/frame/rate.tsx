import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { currentPause, currentRate, type Rate, subscribeToRate } from "../../api/client";
import { isServerGone, subscribeToServer } from "../../api/connection";
import { refetchFailed, refetchShown } from "../../api/queries";
import { locale } from "../i18n/language";
import { words } from "../i18n/words";
import style from "./frame.module.css";
import en from "./words.en.json";

const say = words(en, "shared/frame");

/** Percent of the minute from which its use is worth knowing. */
export const SHOWN_FROM = 80;
export const shareUsed = ({ limit, remaining }: Rate) => Math.min(100, ((limit - remaining) / limit) * 100);

/** The tenant's minute once it is nearly used up, from the headers of the last answer. */
export function RateMeter() {
  const rate = useSyncExternalStore(subscribeToRate, currentRate);
  const [, setOver] = useState(0);
  const share = rate && rate.resetAt > Date.now() ? shareUsed(rate) : 0;
  const isShown = share >= SHOWN_FROM;
  // Without another request nothing says that a new minute has begun.
  useEffect(() => {
    if (!rate || !isShown) return;
    const timer = setTimeout(() => setOver(rate.resetAt), rate.resetAt - Date.now() + 50);
    return () => clearTimeout(timer);
  }, [rate, isShown]);
  if (!rate || !isShown) return null;
  const used = rate.limit - rate.remaining;
  return (
    <div className={`${style.rate} ${style.word}`}>
      <span className="row between t-12">
        <span className="t-3">{say("rate")}</span>
        <span className="num t-2">
          {used.toLocaleString(locale)} / {rate.limit.toLocaleString(locale)}
        </span>
      </span>
      <span className={`meter warn ${style.meter}`}>
        <i style={{ width: `${share}%` }} />
      </span>
    </div>
  );
}

const MINUTE = 60;
const DAY = 86_400;

/** For how long the organization's requests are refused; an hour or a day is not counted down in seconds. */
function pauseWords(seconds: number, windowSeconds: number): string {
  if (windowSeconds <= MINUTE) return say("pause", { count: seconds });
  const count = Math.ceil(seconds / MINUTE);
  return say(windowSeconds < DAY ? "pauseHour" : "pauseDay", { count });
}

/** Says that the organization's requests are refused, and for how long; what was refused is asked for after it. */
export function Pause() {
  const client = useQueryClient();
  const { endsAt, windowSeconds } = useSyncExternalStore(subscribeToRate, currentPause);
  const [now, setNow] = useState(Date.now);
  const seconds = Math.ceil((endsAt - now) / 1000);
  useEffect(() => {
    setNow(Date.now());
    if (endsAt <= Date.now()) return;
    const timer = setInterval(() => {
      setNow(Date.now());
      if (endsAt > Date.now()) return;
      clearInterval(timer);
      void refetchFailed(client);
    }, 500);
    return () => clearInterval(timer);
  }, [endsAt, client]);
  return (
    <div role="status">{seconds > 0 && <div className={style.warnline}>{pauseWords(seconds, windowSeconds)}</div>}</div>
  );
}

/** Says that the server does not answer, until it does; then all that is shown is asked for: much may have changed. */
export function ServerGone() {
  const client = useQueryClient();
  const isGone = useSyncExternalStore(subscribeToServer, isServerGone);
  useEffect(
    () =>
      subscribeToServer(() => {
        if (!isServerGone()) void refetchShown(client);
      }),
    [client],
  );
  return <div role="status">{isGone && <div className={style.warnline}>{say("serverGone")}</div>}</div>;
}
