import { useSyncExternalStore } from "react";
import { currentRate, subscribeToRate } from "../../api/client";
import { words } from "../i18n/words";
import style from "./frame.module.css";
import en from "./words.en.json";

const say = words(en);

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
          {used.toLocaleString("en")} / {rate.limit.toLocaleString("en")}
        </span>
      </span>
      <span className={`meter ${share > 85 ? "warn" : ""} ${style.meter}`}>
        <i style={{ width: `${share}%` }} />
      </span>
    </div>
  );
}
