import type { ReactNode } from "react";
import { locale } from "../i18n/language";
import { createTranslator } from "../i18n/words";
import { StatusPill } from "../marks/status";
import { formatExactTime } from "../time";
import style from "./budget_line.module.css";
import { describeAction, describeForecast, describeRefused, describeSpent, toneOfBudget } from "./budget_words";
import { type Budget, type BudgetForecast, forecastBudget, PACE_DAYS } from "./forecast";
import { ownerKey, type SpentOnDays } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "shared/budgets");
const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });

/** What a budget spends on a day, by the last seven; undefined while that is unknown. */
function meanPerDay({ scope, limit_usd }: Budget, days: SpentOnDays | undefined): number | undefined {
  if (!days || scope.type === "provider_key") return undefined;
  const owner = ownerKey(scope.type, scope.id);
  const spent = days.filter((one) => one.owner === owner);
  return spent.reduce((sum, one) => sum + (limit_usd === null ? one.tokens : one.usd), 0) / PACE_DAYS;
}

export const forecastByPace = (budget: Budget, days: SpentOnDays | undefined) =>
  forecastBudget(budget, meanPerDay(budget, days));

/** How much is spent, hatched how much will be, and a line at today. */
function BudgetGauge({ forecast, tone, label }: { forecast: BudgetForecast; tone: string; label: string }) {
  const spent = Math.min(100, forecast.spentShare * 100);
  const end = Math.min(100, (forecast.endConversationShare ?? 0) * 100);
  return (
    <span className={style.gauge} data-tone={tone} role="img" aria-label={label}>
      <i style={{ inlineSize: `${spent}%` }} />
      {end > spent && <u style={{ insetInlineStart: `${spent}%`, inlineSize: `${end - spent}%` }} />}
      <b style={{ insetInlineStart: `${forecast.elapsedShare * 100}%` }} />
    </span>
  );
}

type BudgetLineProps = { budget: Budget; days?: SpentOnDays; name?: ReactNode; children?: ReactNode };

/** One budget: whose it is, what is spent of it, where it will end and what then happens. */
export function BudgetLine({ budget, days, name, children }: BudgetLineProps) {
  const forecast = forecastByPace(budget, days);
  const tone = budget.refused_today ? "bad" : toneOfBudget(budget, forecast);
  const spent = describeSpent(budget);
  const words = describeForecast(budget, forecast);
  const level = forecast.spentShare > 1 ? say("overLimit") : percent.format(forecast.spentShare);
  return (
    <li className={style.budget}>
      <div className={style.head}>
        <span className="t-13 t-500">{name ?? spent}</span>
        {name && <span className="t-13 num">{spent}</span>}
        <StatusPill tone={tone || undefined}>{level}</StatusPill>
        {children}
      </div>
      <BudgetGauge forecast={forecast} tone={tone} label={`${level}. ${words}`} />
      <span className={style.foot}>
        <span className={tone ? style[tone] : "t-2"} title={formatExactTime(budget.resets_at)}>
          {words}
        </span>
        <span className="t-3">{describeAction(budget)}</span>
      </span>
      {budget.refused_today > 0 && <span className={`t-13 ${style.bad}`}>{describeRefused(budget)}</span>}
    </li>
  );
}
