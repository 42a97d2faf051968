import { useEffect, useState, useSyncExternalStore } from "react";
import { currentPause, currentRate, subscribeToRate } from "../../api/client";
import { locale } from "../i18n/language";
import { words } from "../i18n/words";
import style from "./frame.module.css";
import en from "./words.en.json";

const say = words(en, "shared/frame");

/** The tenant's minute, from the headers of the last answer. */
export function RateMeter() {
  const rate = useSyncExternalStore(subscribeToRate, currentRate);
  if (!rate) return null;
  const used = rate.limit - rate.remaining;
  const share = Math.min(100, (used / rate.limit) * 100);
  return (
    <div className={`${style.rate} ${style.word}`}>
      <span className="row between t-12">
        <span className="t-3">{say("rate")}</span>
        <span className="num t-2">
          {used.toLocaleString(locale)} / {rate.limit.toLocaleString(locale)}
        </span>
      </span>
      <span className={`meter ${share > 85 ? "warn" : ""} ${style.meter}`}>
        <i style={{ width: `${share}%` }} />
      </span>
    </div>
  );
}

/** Says that the server refuses requests for now, and for how long; queries go on by themselves after it. */
export function Pause() {
  const resumesAt = useSyncExternalStore(subscribeToRate, currentPause);
  const [now, setNow] = useState(Date.now);
  const seconds = Math.ceil((resumesAt - now) / 1000);
  const isOver = seconds <= 0;
  useEffect(() => {
    setNow(Date.now());
    if (resumesAt <= Date.now()) return;
    const timer = setInterval(() => {
      setNow(Date.now());
      if (resumesAt <= Date.now()) clearInterval(timer);
    }, 500);
    return () => clearInterval(timer);
  }, [resumesAt]);
  return <div role="status">{!isOver && <div className={style.warnline}>{say("pause", { count: seconds })}</div>}</div>;
}
