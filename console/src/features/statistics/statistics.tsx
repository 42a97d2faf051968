import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { AgentPage } from "../../shared/agent/agent_page";
import { createTranslator } from "../../shared/i18n/words";
import { Sheet } from "../../shared/patterns/sheet";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { BudgetList } from "./budgets";
import { AgentFigures, StatisticsCharts } from "./figures";
import { DEFAULT_PERIOD, type Filters } from "./filters";
import { PeriodSelect } from "./period_select";
import { breakdownQuery } from "./queries";
import style from "./statistics.module.css";
import { UsedResources } from "./used";
import en from "./words.en.json";

const say = createTranslator(en, "features/statistics");

export default function StatisticsPage() {
  const { agentId } = useParams({ from: "/frame/agents/$agentId/statistics" });
  const filters = useSearch({ from: "/frame/agents/$agentId/statistics" });
  const navigate = useNavigate();
  return (
    <AgentPage agentId={agentId} tab="statistics">
      {() => (
        <Sheet>
          <PeriodSelect
            lead={say("lead")}
            period={filters.period}
            onChange={(period) =>
              void navigate({
                to: "/agents/$agentId/statistics",
                params: { agentId },
                search: { period },
                replace: true,
              })
            }
          />
          <StatisticsNumbers agentId={agentId} filters={filters} />
          <BudgetList agentId={agentId} />
        </Sheet>
      )}
    </AgentPage>
  );
}

type Props = { agentId: string; filters: Filters };

function StatisticsNumbers({ agentId, filters }: Props) {
  const {
    data: stats,
    error,
    refetch,
    isPlaceholderData,
  } = useQuery(breakdownQuery(agentId, filters.period ?? DEFAULT_PERIOD));
  if (error && !stats) return <FailureState error={error} onRetry={() => void refetch()} />;
  if (!stats) return <RowSkeletons rows={4} columns={[120, 300, 120]} />;
  if (!stats.successful_messages && !stats.failed_messages)
    return (
      <div className="card">
        <EmptyState
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
        </EmptyState>
      </div>
    );
  return (
    <div className={style.numbers} aria-busy={isPlaceholderData || undefined}>
      <AgentFigures stats={stats} />
      <StatisticsCharts stats={stats} />
      <UsedResources stats={stats} />
    </div>
  );
}
