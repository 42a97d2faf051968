import { locale } from "../../shared/i18n/language";
import style from "./usage.module.css";

const WARN_FROM = 0.8;

/** How much of a limit is used, with a bar where there is one. */
export function UsedOf({ used, limit }: { used: number; limit: number | null }) {
  const share = limit ? Math.min(1, used / limit) : 0;
  return (
    <span className={style.used}>
      <span>{used.toLocaleString(locale)}</span>
      {limit !== null && (
        <span className={`meter ${share >= WARN_FROM ? "warn" : ""} ${style.meter}`} aria-hidden>
          <i style={{ inlineSize: `${share * 100}%` }} />
        </span>
      )}
    </span>
  );
}
