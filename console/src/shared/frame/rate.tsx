import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useSyncExternalStore } from "react";
import { type Rate, readRateLimit, readRatePause, subscribeToRateLimit } from "../../api/client";
import { isServerGone, subscribeToServer } from "../../api/connection";
import { refetchFailedQueries, refetchShownQueries } from "../../api/queries";
import { everyHalfSecond } from "../clock";
import { locale } from "../i18n/language";
import { createTranslator } from "../i18n/words";
import { scheduleTimeout } from "../schedule";
import style from "./frame.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");

/** The clock of a timer may be a little early. */
const RESET_MARGIN_MS = 50;
/** Percent of the minute from which its use is worth knowing. */
export const SHOWN_FROM = 80;
export const shareOfRateUsed = ({ limit, remaining }: Rate) => Math.min(100, ((limit - remaining) / limit) * 100);

/** The tenant's minute once it is nearly used up, from the headers of the last answer. */
export function RateMeter() {
  const rate = useSyncExternalStore(subscribeToRateLimit, readRateLimit);
  const resetAt = rate?.resetAt ?? 0;
  // Without another request nothing says that a new minute has begun.
  const watchReset = useCallback(
    (onReset: () => void) => scheduleTimeout(onReset, Math.max(0, resetAt - Date.now()) + RESET_MARGIN_MS),
    [resetAt],
  );
  const isCurrent = useSyncExternalStore(watchReset, () => resetAt > Date.now());
  const share = rate && isCurrent ? shareOfRateUsed(rate) : 0;
  if (!rate || share < SHOWN_FROM) return null;
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
function describePause(seconds: number, windowSeconds: number): string {
  if (windowSeconds <= MINUTE) return say("pause", { count: seconds });
  const count = Math.ceil(seconds / MINUTE);
  return say(windowSeconds < DAY ? "pauseHour" : "pauseDay", { count });
}

/** Says that the organization's requests are refused, and for how long; what was refused is asked for after it. */
export function RatePauseNote() {
  const client = useQueryClient();
  const { endsAt, windowSeconds } = useSyncExternalStore(subscribeToRateLimit, readRatePause);
  const countDown = useCallback(
    (onTick: () => void) => {
      if (endsAt <= Date.now()) return () => undefined;
      const stop = everyHalfSecond(() => {
        onTick();
        if (endsAt > Date.now()) return;
        stop();
        void refetchFailedQueries(client);
      });
      return stop;
    },
    [endsAt, client],
  );
  const seconds = useSyncExternalStore(countDown, () => Math.max(0, Math.ceil((endsAt - Date.now()) / 1000)));
  return (
    <div role="status">
      {seconds > 0 && <div className={style.warnline}>{describePause(seconds, windowSeconds)}</div>}
    </div>
  );
}

/** Says that the server does not answer, until it does; then all that is shown is asked for: much may have changed. */
export function ServerGoneNote() {
  const client = useQueryClient();
  const watchServer = useCallback(
    (onChange: () => void) =>
      subscribeToServer(() => {
        onChange();
        if (!isServerGone()) void refetchShownQueries(client);
      }),
    [client],
  );
  const isGone = useSyncExternalStore(watchServer, isServerGone);
  return <div role="status">{isGone && <div className={style.warnline}>{say("serverGone")}</div>}</div>;
}
