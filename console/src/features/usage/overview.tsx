import Download from "icon:download";
import { Button, SegmentedControl } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { Sheet } from "../../shared/patterns/sheet";
import { saveTextFile } from "../../shared/save_file";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { showToast } from "../../shared/toast/toasts";
import { BudgetsAtAGlance } from "./budget_list";
import { USAGE_GROUPS, USAGE_MEASURES, USAGE_PERIODS, type UsageFilters } from "./filters";
import { GroupTable } from "./group_table";
import { groupTotalsQuery, readUsageFile } from "./queries";
import { rankGroups } from "./report";
import style from "./usage.module.css";
import { UsageChart } from "./usage_chart";
import { UsageFigures } from "./usage_figures";
import { UsagePage } from "./usage_page";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");

/** What the organization used: how much, over time, and by whom. */
export default function UsageOverview() {
  const filters = useSearch({ from: "/frame/usage" });
  const { period = "30d", by = "agent" } = filters;
  const mayRead = usePermissionCheck()("usage:read");
  const save = useMutation({
    mutationFn: () => readUsageFile(by, period),
    onSuccess: (text) => saveTextFile(`usage-${by}-${period}.csv`, text, "text/csv"),
    onError: (error) => showToast(asApiError(error).message),
  });
  return (
    <UsagePage
      tab="overview"
      actions={
        mayRead && (
          <Button
            variant="default"
            leftSection={<Download size={14} />}
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            {say("export")}
          </Button>
        )
      }
    >
      <Sheet>
        <UsageToolbar filters={filters} />
        <UsageReport filters={filters} />
      </Sheet>
    </UsagePage>
  );
}

function UsageToolbar({ filters }: { filters: UsageFilters }) {
  const navigate = useNavigate();
  const changeFilters = (change: UsageFilters) =>
    void navigate({
      to: "/usage",
      search: { ...filters, page: undefined, ...change },
      replace: true,
      resetScroll: false,
    });
  return (
    <div className={`row g8 wrap ${style.bar}`}>
      <SegmentedControl
        aria-label={say("by")}
        data={USAGE_GROUPS.map((value) => ({ value, label: say(`by_${value}`) }))}
        value={filters.by ?? "agent"}
        onChange={(value) => changeFilters({ by: USAGE_GROUPS.find((name) => name === value && name !== "agent") })}
      />
      <SegmentedControl
        aria-label={say("what")}
        data={USAGE_MEASURES.map((value) => ({ value, label: say(value) }))}
        value={filters.what ?? "cost"}
        onChange={(value) => changeFilters({ what: USAGE_MEASURES.find((name) => name === value && name !== "cost") })}
      />
      <SegmentedControl
        className="push"
        aria-label={say("period")}
        data={USAGE_PERIODS.map((value) => ({ value, label: say(`period_${value}`) }))}
        value={filters.period ?? "30d"}
        onChange={(value) => changeFilters({ period: USAGE_PERIODS.find((name) => name === value && name !== "30d") })}
      />
    </div>
  );
}

function UsageReport({ filters }: { filters: UsageFilters }) {
  const { period = "30d", by = "agent", what = "cost" } = filters;
  const { data, error, refetch, isPlaceholderData } = useQuery(groupTotalsQuery(by, period));
  if (error && !data) return <FailureState error={error} onRetry={() => void refetch()} />;
  if (!data) return <RowSkeletons rows={5} columns={[120, 300, 120]} />;
  const groups = rankGroups(data.data, by, what);
  if (groups.length === 0)
    return (
      <>
        <BudgetsAtAGlance />
        <div className="card">
          <EmptyState title={say("emptyTitle")}>{say("empty")}</EmptyState>
        </div>
      </>
    );
  return (
    <div className={style.report} aria-busy={isPlaceholderData || undefined}>
      <UsageFigures totals={data.totals} period={period} />
      <div className={style.two}>
        <UsageChart groups={groups} by={by} measure={what} period={period} />
        <BudgetsAtAGlance />
      </div>
      <GroupTable groups={groups} filters={filters} />
    </div>
  );
}
