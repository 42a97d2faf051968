import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { components } from "../../api/schema";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { OutcomeBars } from "../../shared/patterns/outcome_bars";
import { FigureStrip, Sheet, SheetSection } from "../../shared/patterns/sheet";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDay, formatDecimal, formatDuration } from "../../shared/time";
import { TOOL_PERIODS, type ToolPeriod } from "./filters";
import { toolStatsQuery } from "./queries";
import style from "./statistics.module.css";
import { ToolPage } from "./tool_page";
import { TopAgents } from "./top_agents";
import en from "./words.en.json";

const say = createTranslator(en, "features/tools");
const BAR_WIDTHS: Record<ToolPeriod, number> = { "24h": 96, "7d": 96, "30d": 26, "90d": 8 };
type Stats = components["schemas"]["ToolStats"];

/** How often a tool ran, how often it failed and how long it took. */
export default function ToolStatisticsPage() {
  const { toolId } = useParams({ from: "/frame/tools/$toolId/statistics" });
  return (
    <ToolPage toolId={toolId} tab="statistics">
      {() => <ToolStatistics toolId={toolId} />}
    </ToolPage>
  );
}

function ToolStatistics({ toolId }: { toolId: string }) {
  const { period = "7d" } = useSearch({ from: "/frame/tools/$toolId/statistics" });
  const navigate = useNavigate();
  const stats = useQuery(toolStatsQuery(toolId, period));
  return (
    <Sheet>
      <SegmentedControl
        className={style.periods}
        aria-label={say("period")}
        data={TOOL_PERIODS.map((value) => ({ value, label: say(`period_${value}`) }))}
        value={period}
        onChange={(value) =>
          void navigate({
            to: "/tools/$toolId/statistics",
            params: { toolId },
            search: { period: TOOL_PERIODS.find((name) => name === value && name !== "7d") },
            replace: true,
          })
        }
      />
      {stats.error && !stats.data && <FailureState error={stats.error} onRetry={() => void stats.refetch()} />}
      {!stats.error && !stats.data && <RowSkeletons rows={4} columns={[120, 300, 120]} />}
      {stats.data?.total_executions === 0 && (
        <EmptyState title={say("noExecutionsTitle")}>{say("noExecutionsInPeriod")}</EmptyState>
      )}
      {stats.data && stats.data.total_executions > 0 && <StatisticsSheet stats={stats.data} />}
    </Sheet>
  );
}

function StatisticsSheet({ stats }: { stats: Stats }) {
  const count = (value: number) => value.toLocaleString(locale);
  return (
    <>
      <FigureStrip
        figures={[
          { name: say("runs"), value: count(stats.total_executions), note: say("failedOf", { count: stats.failed }) },
          { name: say("withoutError"), value: `${formatDecimal(stats.success_rate, 0, 1)} %` },
          { name: say("mean"), value: formatDuration(stats.avg_execution_time_ms) },
          {
            name: "p95",
            value: formatDuration(stats.p95_execution_time_ms),
            note: `p99 ${formatDuration(stats.p99_execution_time_ms)}`,
          },
        ]}
      />
      <SheetSection title={say("byDay")} note={say("byDayNote")}>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs */}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <div className={`card ${style.chart}`} tabIndex={0} role="group" aria-label={say("byDay")}>
          <div className={`stack g8 ${style.bars}`}>
            <OutcomeBars
              outcomes={stats.daily_breakdown.map(({ executions, failures }) => ({
                total: executions,
                failed: failures,
              }))}
              label={say("runsOf", { count: stats.total_executions, days: stats.daily_breakdown.length })}
              height={120}
              width={BAR_WIDTHS[stats.period]}
            />
            <div className="row between t-12 t-3 num">
              <span>{formatDay(stats.daily_breakdown[0]?.date ?? "")}</span>
              <span>{formatDay(stats.daily_breakdown.at(-1)?.date ?? "")}</span>
            </div>
          </div>
        </div>
      </SheetSection>
      <TopAgents agents={stats.top_agents} />
    </>
  );
}
