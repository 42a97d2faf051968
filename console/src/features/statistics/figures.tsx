import type { ReactNode } from "react";
import { locale } from "../../shared/i18n/language";
import { words } from "../../shared/i18n/words";
import { Sparkline } from "../../shared/marks/sparkline";
import { duration, money } from "../../shared/time";
import { Chart } from "./chart";
import { costOf, sharesOf } from "./figures_of";
import type { Breakdown, Point } from "./queries";
import style from "./statistics.module.css";
import en from "./words.en.json";

const say = words(en, "features/statistics");
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 });
const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
const durationOrDash = (ms: number | null) => (ms === null ? "–" : duration(ms));

type FigureProps = { label: string; value: string; of?: number[]; course?: string; tone?: "bad"; children?: ReactNode };

function Figure({ label, value, of, course = label, tone, children }: FigureProps) {
  return (
    <div className={style.figure}>
      <dt className="t-13 t-2">{label}</dt>
      <dd>
        <span className="row between">
          <span className={`num ${style.number}`}>{value}</span>
          {of && of.length > 1 && (
            <span className={style.spark}>
              <Sparkline of={of} width={84} height={28} tone={tone} label={say("courseOf", { label: course })} />
            </span>
          )}
        </span>
        <span className="t-12 t-3">{children ?? "\u00a0"}</span>
      </dd>
    </div>
  );
}

function Cost({ stats, series }: { stats: Breakdown; series: Point[] }) {
  const { usd, unpriced, calls } = costOf(stats);
  return (
    <Figure
      label={say("cost")}
      value={usd === null ? say("unknown") : money(usd)}
      of={usd ? series.map((point) => point.estimated_cost_usd) : undefined}
    >
      {unpriced ? (
        <span className={style.warn}>{say("unpriced", { unpriced, calls })}</span>
      ) : (
        stats.total_conversations > 0 &&
        usd !== null &&
        say("eachConversation", { cost: money(usd / stats.total_conversations) })
      )}
    </Figure>
  );
}

/** The figures of the period, each with its course and one thing that explains it. */
export function AgentFigures({ stats }: { stats: Breakdown }) {
  const { series } = stats;
  const chats = stats.successful_messages + stats.failed_messages;
  const { success, liked } = sharesOf(stats);
  const rated = stats.positive_feedback + stats.negative_feedback;
  return (
    <dl className={`card ${style.figures}`}>
      <Figure label={say("chats")} value={whole.format(chats)} of={series.map((point) => point.chats)}>
        {say("conversations", { count: stats.total_conversations })}
      </Figure>
      <Figure
        label={say("success")}
        value={success === null ? "–" : percent.format(success)}
        of={stats.failed_messages ? series.map((point) => point.failed_chats) : undefined}
        course={say("failed")}
        tone="bad"
      >
        {say("failedCount", { count: stats.failed_messages })}
      </Figure>
      <Figure
        label={say("tokens")}
        value={compact.format(stats.total_tokens_used)}
        of={series.map((point) => point.tokens)}
      >
        {stats.total_tokens_used > 0 &&
          say("cached", { share: percent.format(stats.cached_tokens / stats.total_tokens_used) })}
      </Figure>
      <Cost stats={stats} series={series} />
      <Figure label={say("time")} value={durationOrDash(stats.p50_response_time_ms)}>
        {stats.p95_response_time_ms !== null && say("ofAnswered", { time: durationOrDash(stats.p95_response_time_ms) })}
      </Figure>
      <Figure label={say("firstWord")} value={durationOrDash(stats.p50_first_token_ms)}>
        {stats.p95_first_token_ms === null
          ? say("noStream")
          : say("ofStreamed", { time: durationOrDash(stats.p95_first_token_ms) })}
      </Figure>
      <Figure label={say("liked")} value={liked === null ? "–" : percent.format(liked)}>
        {rated ? say("ratings", { up: stats.positive_feedback, down: stats.negative_feedback }) : say("noRatings")}
      </Figure>
      <Figure label={say("toolCalls")} value={whole.format(stats.tool_calls)}>
        {chats > 0 && say("eachChat", { count: compact.format(stats.tool_calls / chats) })}
      </Figure>
    </dl>
  );
}

/** How many chats there were and how long they took, over the period. */
export function Charts({ stats }: { stats: Breakdown }) {
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
      <Chart
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
      <Chart
        title={say("time")}
        kind="lines"
        places={places}
        placeName={placeName}
        format={duration}
        series={[
          { name: say("median"), tone: "first", values: series.map((point) => point.p50_response_time_ms) },
          { name: say("p95Name"), tone: "second", values: series.map((point) => point.p95_response_time_ms) },
        ]}
      />
    </div>
  );
}
