import { useQuery } from "@tanstack/react-query";
import { type Series, SeriesChart } from "../../shared/chart/series_chart";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { Note } from "../../shared/patterns/note";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatMoney } from "../../shared/time";
import type { UsageGroup, UsageMeasure, UsagePeriodName } from "./filters";
import { nameWithoutGroup, useGroupNames } from "./names";
import { groupCourseQuery, totalCourseQuery } from "./queries";
import { courseOf, drawnGroups, type GroupUsage, groupsOfPage, huesOf, restOf, stepsOf, toGroupIds } from "./report";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 });

type UsageChartProps = { groups: GroupUsage[]; by: UsageGroup; measure: UsageMeasure; period: UsagePeriodName };

/** The period by hours or days: the largest groups one upon the other, and the others together. */
export function UsageChart({ groups, by, measure, period }: UsageChartProps) {
  const drawn = drawnGroups(groups);
  const total = useQuery(totalCourseQuery(period));
  // The same question as that of the table's first page.
  const course = useQuery(groupCourseQuery(by, period, toGroupIds(groupsOfPage(groups, 1))));
  const nameOf = useGroupNames(
    by,
    drawn.flatMap(({ id }) => id ?? []),
  );
  const error = total.error ?? course.error;
  if (error && !(total.data && course.data))
    return <FailureState error={error} onRetry={() => void Promise.all([total.refetch(), course.refetch()])} />;
  if (!total.data || !course.data) return <RowSkeletons rows={4} columns={[120, 300]} />;
  const { granularity, starts } = stepsOf(period, Date.now());
  const isHourly = granularity === "hour";
  const format = new Intl.DateTimeFormat(
    locale,
    isHourly ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short", timeZone: "UTC" },
  );
  const hues = huesOf(groups);
  const courses = drawn.map(({ id }) => courseOf(course.data.data, by, id, measure, starts));
  const others = groups.length - drawn.length;
  const series: Series[] = drawn.map(({ id }, place) => ({
    name: id === null ? nameWithoutGroup(by) : (nameOf(id) ?? id),
    tone: (id === null ? undefined : hues.get(id)) ?? "turn",
    values: courses[place] ?? [],
  }));
  if (others > 0)
    series.push({
      name: say("others", { count: others }),
      tone: "turn",
      values: restOf(courseOf(total.data.data, null, null, measure, starts), courses),
    });
  return (
    <SeriesChart
      title={say(`${measure}_${granularity}`)}
      kind="bars"
      isTall
      places={starts.map((start) => format.format(new Date(start)))}
      placeName={say(granularity)}
      series={series}
      format={measure === "cost" ? formatMoney : (value) => compact.format(value)}
    >
      {measure === "cost" && groups.some((one) => one.unpriced_tokens > 0) && (
        <Note tone="warn">{say("chartUnpriced")}</Note>
      )}
    </SeriesChart>
  );
}
