import { locale } from "../i18n/language";
import { createTranslator } from "../i18n/words";
import { formatMoney, formatTimeLeft } from "../time";
import { type Budget, type BudgetForecast, limitOf } from "./forecast";
import en from "./words.en.json";

const say = createTranslator(en, "shared/budgets");
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 });
const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" });
type Limited = Pick<Budget, "limit_usd" | "limit_tokens" | "period">;

type Refused = Pick<Budget, "refused_today" | "refused_because">;

export const formatSpent = (budget: Limited, amount: number) =>
  budget.limit_usd === null ? compact.format(amount) : formatMoney(amount);

const formatLimit = (budget: Limited) => {
  const limit = limitOf(budget);
  if (budget.limit_usd !== null) return formatMoney(limit);
  return say(limit === 1 ? "oneToken" : "tokenCount", { count: compact.format(limit) });
};

/** "$96.20 of $120.00 this month". */
export const describeSpent = (budget: Budget) =>
  say(budget.period === "day" ? "spentDay" : "spentMonth", {
    spent: formatSpent(budget, budget.spent),
    limit: formatLimit(budget),
  });

/** "$120.00 a month", before anything is stored. */
export const describeLimit = (budget: Limited) =>
  say(budget.period === "day" ? "limitDay" : "limitMonth", { limit: formatLimit(budget) });

export const describeAction = ({ action, soft_percent }: Pick<Budget, "action" | "soft_percent">) =>
  say(`action_${action}`, { percent: soft_percent });

/** What becomes of a budget, in a sentence: used up, when it runs out, or where it ends. */
export function describeForecast(budget: Budget, forecast: BudgetForecast): string {
  if (forecast.spentShare >= 1)
    return say(`spent_${budget.action}`, {
      left: formatTimeLeft(budget.resets_at),
      day: day.format(new Date(budget.resets_at)),
    });
  if (forecast.runsOutAt) return say("runsOut", { day: day.format(new Date(forecast.runsOutAt)) });
  if (forecast.spentAtEnd !== null) return say("endsAt", { amount: formatSpent(budget, forecast.spentAtEnd) });
  return say("resets", { left: formatTimeLeft(budget.resets_at) });
}

const REFUSALS = ["spent", "unaffordable", "reserved", "unpriced"] as const;

/** "3 questions were refused today: …", with why the last of them was. */
export function describeRefused({ refused_today: count, refused_because }: Refused): string {
  const reason = REFUSALS.find((one) => one === refused_because);
  return [say("refusedToday", { count }), reason && say(`refused_${reason}`)].filter(Boolean).join(" ");
}

/** Red once it is used up, amber from its warning on and where it will not last. */
export function toneOfBudget(budget: Budget, { spentShare, runsOutAt }: BudgetForecast): "bad" | "warn" | "" {
  if (spentShare >= 1) return "bad";
  return runsOutAt || spentShare * 100 >= budget.soft_percent ? "warn" : "";
}
