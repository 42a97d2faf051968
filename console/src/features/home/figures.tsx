import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { usePermissionCheck } from "../../api/queries";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { Sparkline } from "../../shared/marks/sparkline";
import { formatDuration, formatMoney } from "../../shared/time";
import style from "./home.module.css";
import { agentBudgetsQuery, type ComparedDay, type Today } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/home");
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 2 });
const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
const change = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0, signDisplay: "exceptZero" });

function TodayFigure({
  label,
  value,
  values,
  children,
}: {
  label: string;
  value: string;
  values: number[];
  children?: ReactNode;
}) {
  return (
    <div className={style.figure}>
      <div className="t-13 t-2">{label}</div>
      <div className="row between">
        <div className={`num ${style.number}`}>{value}</div>
        <span className={style.spark}>
          <Sparkline values={values} width={84} height={28} label={say("byHour", { label })} />
        </span>
      </div>
      <div className="t-12 t-3">{children ?? "\u00a0"}</div>
    </div>
  );
}

/** How much of the organization's budget is used; without one, whether agents have their own. */
export function describeBudget(budget: Today["budget"], others: number): string {
  const limit = budget?.limit_usd ?? budget?.limit_tokens;
  if (!budget || !limit) return others ? say("otherBudgets", { count: others }) : say("noBudget");
  const isDay = budget.period === "day";
  if (budget.spent > limit) return say(isDay ? "overDay" : "overMonth");
  return say(isDay ? "ofDay" : "ofMonth", { share: percent.format(budget.spent / limit) });
}

/** The day so far, with one comparison that means something. */
export function TodayFigures({ today, before }: { today: Today; before: ComparedDay | null }) {
  // The curve ends now: hours to come are no zeros.
  const hours = today.series.slice(0, Math.max(2, new Date().getUTCHours() + 1));
  const { budget } = today;
  const may = usePermissionCheck();
  const { data: others = 0 } = useQuery({ ...agentBudgetsQuery, enabled: !budget && may("usage:read") });
  const unpriced = today.unpriced_models.length;
  const first = today.p95_first_token_ms;
  return (
    <section className="stack g8" aria-labelledby="today">
      <h2 id="today" className="t-sec">
        {say("today")}
      </h2>
      <div className={`card ${style.figures}`}>
        <TodayFigure label={say("chats")} value={compact.format(today.chats)} values={hours.map((hour) => hour.chats)}>
          {today.failed_chats > 0 && (
            <span className={style.failed}>{say("failed", { count: today.failed_chats })}</span>
          )}
          {today.failed_chats > 0 && before && before.chats > 0 && " · "}
          {before && before.chats > 0 && (
            <>
              <span className={style.up}>{change.format(today.chats / before.chats - 1)}</span> {say("thanLastWeek")}
            </>
          )}
        </TodayFigure>
        <TodayFigure
          label={say("tokens")}
          value={compact.format(today.tokens)}
          values={hours.map((hour) => hour.tokens)}
        >
          {today.tokens > 0 && say("cached", { share: percent.format(today.cached_tokens / today.tokens) })}
        </TodayFigure>
        <TodayFigure
          label={say("cost")}
          value={unpriced && !today.cost_usd ? say("unknown") : formatMoney(today.cost_usd)}
          values={hours.map((hour) => hour.cost_usd)}
        >
          {unpriced > 0 && (
            <span title={today.unpriced_models.join("\n")}>{say("unpriced", { count: unpriced })} · </span>
          )}
          {describeBudget(budget, others)}
        </TodayFigure>
        <TodayFigure
          label={say("firstWord")}
          value={first === null ? "–" : formatDuration(first)}
          values={hours.map((hour) => hour.p95_first_token_ms ?? 0)}
        >
          {say(first === null ? "noStream" : "ofStreamed")}
        </TodayFigure>
      </div>
    </section>
  );
}
