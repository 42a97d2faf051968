import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { AgentPage } from "../../shared/agent/agent_page";
import { words } from "../../shared/i18n/words";
import { Empty } from "../../shared/states/empty";
import { Failure, RowsLoading } from "../../shared/states/states";
import { Budgets } from "./budgets";
import { Calls } from "./calls";
import { AgentFigures, Charts } from "./figures";
import { DEFAULT_PERIOD, type Filters, STATISTICS_PERIODS } from "./filters";
import { breakdownQuery } from "./queries";
import style from "./statistics.module.css";
import { Used } from "./used";
import en from "./words.en.json";

const say = words(en, "features/statistics");

export default function StatisticsPage() {
  const { agentId } = useParams({ from: "/frame/agents/$agentId/statistics" });
  const filters = useSearch({ from: "/frame/agents/$agentId/statistics" });
  return (
    <AgentPage agentId={agentId} tab="statistics">
      {() => (
        <div className={style.scroll}>
          <div className={style.page}>
            <Period agentId={agentId} filters={filters} />
            <Numbers agentId={agentId} filters={filters} />
            <Budgets agentId={agentId} />
            <Calls agentId={agentId} filters={filters} />
          </div>
        </div>
      )}
    </AgentPage>
  );
}

type Props = { agentId: string; filters: Filters };

function Period({ agentId, filters }: Props) {
  const navigate = useNavigate();
  return (
    <div className="row between wrap g12">
      <p className="t-13 t-2">{say("lead")}</p>
      <SegmentedControl
        aria-label={say("period")}
        data={STATISTICS_PERIODS.map((value) => ({ value, label: say(`period_${value}`) }))}
        value={filters.period ?? DEFAULT_PERIOD}
        onChange={(chosen) =>
          void navigate({
            to: "/agents/$agentId/statistics",
            params: { agentId },
            search: {
              ...filters,
              page: undefined,
              period: STATISTICS_PERIODS.find((one) => one === chosen && one !== DEFAULT_PERIOD),
            },
            replace: true,
          })
        }
      />
    </div>
  );
}

function Numbers({ agentId, filters }: Props) {
  const {
    data: stats,
    error,
    refetch,
    isPlaceholderData,
  } = useQuery(breakdownQuery(agentId, filters.period ?? DEFAULT_PERIOD));
  if (error && !stats) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!stats) return <RowsLoading rows={4} columns={[120, 300, 120]} />;
  if (!stats.successful_messages && !stats.failed_messages)
    return (
      <div className="card">
        <Empty
          title={say("emptyTitle")}
          actions={
            <Button
              variant="default"
              renderRoot={(props) => <Link {...props} to="/agents/$agentId/share" params={{ agentId }} />}
            >
              {say("emptyShare")}
            </Button>
          }
        >
          {say("empty")}
        </Empty>
      </div>
    );
  return (
    <div className={style.numbers} aria-busy={isPlaceholderData || undefined}>
      <AgentFigures stats={stats} />
      <Charts stats={stats} />
      <Used stats={stats} />
    </div>
  );
}
