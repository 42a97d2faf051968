import { createTranslator } from "../../shared/i18n/words";
import { formatDay, formatMoney } from "../../shared/time";
import { forecastMonthEnd } from "./forecast";
import type { HostedPage } from "./queries";
import style from "./share.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/embed");

/** The tokens and the money of this month, and until when they last. */
export function PageUsage({ page: { figures, limits } }: { page: HostedPage }) {
  const budget = limits?.monthly_token_budget;
  if (!budget) return null;
  const { tokens_used: used, cost_usd: cost } = figures;
  const end = forecastMonthEnd(used, budget, new Date());
  const lasts =
    used >= budget ? say("spent") : end ? say("enoughUntil", { day: formatDay(end.toISOString()) }) : say("enough");
  return (
    <div className="stack g4">
      <div className="row g8 wrap t-12">
        <span className="t-2 grow">
          {say("usedThisMonth", {
            used: used.toLocaleString(),
            budget: budget.toLocaleString(),
            cost: formatMoney(cost),
          })}
        </span>
        <span className="t-3">{lasts}</span>
      </div>
      <progress className={style.used} aria-label={say("budget")} max={budget} value={Math.min(used, budget)} />
    </div>
  );
}
