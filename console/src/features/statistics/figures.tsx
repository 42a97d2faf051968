import type { ReactNode } from "react";
import { SeriesChart } from "../../shared/chart/series_chart";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { Sparkline } from "../../shared/marks/sparkline";
import { formatDuration, formatMoney } from "../../shared/time";
import { computeRatingShares, summarizeCost } from "./figures_of";
import type { Breakdown, Point } from "./queries";
import style from "./statistics.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/statistics");
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 });
const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
const formatDurationOrDash = (ms: number | null) => (ms === null ? "–" : formatDuration(ms));

type FigureProps = {
  label: string;
  value: string;
  values?: number[];
  course?: string;
  tone?: "bad";
  children?: ReactNode;
};

function StatisticsFigure({ label, value, values, course = label, tone, children }: FigureProps) {
  return (
    <div className={style.figure}>
      <dt className="t-13 t-2">{label}</dt>
      <dd>
        <span className="row between">
          <span className={`num ${style.number}`}>{value}</span>
          {values && values.length > 1 && (
            <span className={style.spark}>
              <Sparkline
                values={values}
                width={84}
                height={28}
                tone={tone}
                label={say("courseOf", { label: course })}
              />
            </span>
          )}
        </span>
        <span className="t-12 t-3">{children ?? "\u00a0"}</span>
      </dd>
    </div>
  );
}

function CostFigure({ stats, series }: { stats: Breakdown; series: Point[] }) {
  const { usd, unpriced, calls } = summarizeCost(stats);
  return (
    <StatisticsFigure
      label={say("cost")}
      value={usd === null ? say("unknown") : formatMoney(usd)}
      values={usd ? series.map((point) => point.estimated_cost_usd) : undefined}
    >
      {unpriced ? (
        <span className={style.warn}>{say("unpriced", { unpriced, calls })}</span>
      ) : (
        stats.total_conversations > 0 &&
        usd !== null &&
        say("eachConversation", { cost: formatMoney(usd / stats.total_conversations) })
      )}
    </StatisticsFigure>
  );
}

/** The figures of the period, each with its course and one thing that explains it. */
export function AgentFigures({ stats }: { stats: Breakdown }) {
  const { series } = stats;
  const chats = stats.successful_messages + stats.failed_messages;
  const { success, liked } = computeRatingShares(stats);
  const rated = stats.positive_feedback + stats.negative_feedback;
  return (
    <dl className={`card ${style.figures}`}>
      <StatisticsFigure label={say("chats")} value={whole.format(chats)} values={series.map((point) => point.chats)}>
        {say("conversations", { count: stats.total_conversations })}
      </StatisticsFigure>
      <StatisticsFigure
        label={say("success")}
        value={success === null ? "–" : percent.format(success)}
        values={stats.failed_messages ? series.map((point) => point.failed_chats) : undefined}
        course={say("failed")}
        tone="bad"
      >
        {say("failedCount", { count: stats.failed_messages })}
      </StatisticsFigure>
      <StatisticsFigure
        label={say("tokens")}
        value={compact.format(stats.total_tokens_used)}
        values={series.map((point) => point.tokens)}
      >
        {stats.total_tokens_used > 0 &&
          say("cached", { share: percent.format(stats.cached_tokens / stats.total_tokens_used) })}
      </StatisticsFigure>
      <CostFigure stats={stats} series={series} />
      <StatisticsFigure label={say("time")} value={formatDurationOrDash(stats.p50_response_time_ms)}>
        {stats.p95_response_time_ms !== null &&
          say("ofAnswered", { time: formatDurationOrDash(stats.p95_response_time_ms) })}
      </StatisticsFigure>
      <StatisticsFigure label={say("firstWord")} value={formatDurationOrDash(stats.p50_first_token_ms)}>
        {stats.p95_first_token_ms === null
          ? say("noStream")
          : say("ofStreamed", { time: formatDurationOrDash(stats.p95_first_token_ms) })}
      </StatisticsFigure>
      <StatisticsFigure label={say("liked")} value={liked === null ? "–" : percent.format(liked)}>
        {rated ? say("ratings", { up: stats.positive_feedback, down: stats.negative_feedback }) : say("noRatings")}
      </StatisticsFigure>
      <StatisticsFigure label={say("toolCalls")} value={whole.format(stats.tool_calls)}>
        {chats > 0 && say("eachChat", { count: compact.format(stats.tool_calls / chats) })}
      </StatisticsFigure>
    </dl>
  );
}

/** How many chats there were and how long they took, over the period. */
export function StatisticsCharts({ stats }: { stats: Breakdown }) {
  const { series, period } = stats;
  const isHourly = period === "24h";
  const format = new Intl.DateTimeFormat(
    locale,
    // Days are those of the server, which counts in UTC.
    isHourly ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short", timeZone: "UTC" },
  );
  const places = series.map((point) => format.format(new Date(point.start)));
  const placeName = say(isHourly ? "hour" : "day");
  return (
    <div className={style.two}>
      <SeriesChart
        title={say("chats")}
        kind="bars"
        places={places}
        placeName={placeName}
        format={(value) => whole.format(value)}
        series={[
          { name: say("answered"), tone: "calm", values: series.map((point) => point.chats - point.failed_chats) },
          { name: say("failed"), tone: "bad", values: series.map((point) => point.failed_chats) },
        ]}
      />
      <SeriesChart
        title={say("time")}
        kind="lines"
        places={places}
        placeName={placeName}
        format={formatDuration}
        series={[
          { name: say("median"), tone: "first", values: series.map((point) => point.p50_response_time_ms) },
          { name: say("p95Name"), tone: "second", values: series.map((point) => point.p95_response_time_ms) },
        ]}
      />
    </div>
  );
}
