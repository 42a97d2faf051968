import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { createTranslator } from "../../shared/i18n/words";
import { PageSwitcher } from "../../shared/list/pages";
import { RowTable } from "../../shared/list/row_table";
import { AgentMark } from "../../shared/marks/agent_mark";
import { StatusLabel } from "../../shared/marks/status";
import { ListWithPanel } from "../../shared/patterns/side_panel";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDuration, formatExactTime, formatTimeOfDay } from "../../shared/time";
import { ExecutionPanel } from "./execution_panel";
import { describeInput, executionTone, executionWord } from "./execution_words";
import style from "./executions.module.css";
import { EXECUTION_STATUSES, type ExecutionFilters } from "./filters";
import { EXECUTIONS_PER_PAGE, executionsQuery, type Tool, type ToolExecution } from "./queries";
import { ToolPage } from "./tool_page";
import en from "./words.en.json";

const say = createTranslator(en, "features/tools");
const PANEL_WIDTH = 420;

/** What a tool did, newest first, with the details of one run beside the list. */
export default function ToolExecutionsPage() {
  const { toolId } = useParams({ from: "/frame/tools/$toolId/executions" });
  return (
    <ToolPage toolId={toolId} tab="executions">
      {(tool) => <ExecutionList tool={tool} />}
    </ToolPage>
  );
}

function ExecutionList({ tool }: { tool: Tool }) {
  const filters = useSearch({ from: "/frame/tools/$toolId/executions" });
  const navigate = useNavigate();
  const list = useQuery(executionsQuery(tool.id, filters));
  const changeFilters = (change: Partial<ExecutionFilters>) =>
    void navigate({
      to: "/tools/$toolId/executions",
      params: { toolId: tool.id },
      search: { ...filters, page: undefined, ...change },
      replace: true,
    });
  const closePanel = () => changeFilters({ id: undefined, page: filters.page });
  const rows = list.data?.data;
  const shown = rows?.find(({ id }) => id === filters.id);
  return (
    <ListWithPanel
      width={PANEL_WIDTH}
      panel={
        filters.id && <ExecutionPanel key={filters.id} tool={tool} id={filters.id} known={shown} onClose={closePanel} />
      }
    >
      <div className="toolbar">
        <SegmentedControl
          aria-label={say("outcome")}
          data={[
            { value: "", label: say("show_all") },
            ...EXECUTION_STATUSES.map((value) => ({ value, label: say(`status_${value}`) })),
          ]}
          value={filters.status ?? ""}
          onChange={(value) =>
            changeFilters({ id: undefined, status: EXECUTION_STATUSES.find((name) => name === value) })
          }
        />
      </div>
      {list.error && !rows && <FailureState error={list.error} onRetry={() => void list.refetch()} />}
      {!list.error && !rows && <RowSkeletons columns={[90, 120, 240]} />}
      {rows?.length === 0 && (
        <EmptyState title={say(filters.status ? "noMatchTitle" : "noExecutionsTitle")}>
          {say(filters.status ? "noExecutionMatch" : "noExecutions")}
        </EmptyState>
      )}
      {rows && rows.length > 0 && (
        <ExecutionTable
          rows={rows}
          chosenId={filters.id}
          onChoose={(id) => changeFilters({ id, page: filters.page })}
        />
      )}
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={EXECUTIONS_PER_PAGE}
        total={list.data?.pagination.total ?? 0}
        onChange={(page) => changeFilters({ page, id: undefined })}
      />
    </ListWithPanel>
  );
}

type TableProps = { rows: ToolExecution[]; chosenId?: string; onChoose: (id: string) => void };

function ExecutionTable({ rows, chosenId, onChoose }: TableProps) {
  return (
    <RowTable title={say("executions")} className={style.table}>
      <thead>
        <tr>
          <th>{say("when")}</th>
          <th>{say("outcome")}</th>
          <th className="wide">{say("input")}</th>
          <th className="wide">{say("askedBy")}</th>
          <th className="wide num">{say("took")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((execution) => (
          <tr key={execution.id} className={execution.id === chosenId ? "on" : ""}>
            <td>
              <button
                type="button"
                data-row
                className={`num ${style.open}`}
                aria-expanded={execution.id === chosenId}
                title={formatExactTime(execution.executed_at)}
                onClick={() => onChoose(execution.id)}
              >
                {formatTimeOfDay(execution.executed_at)}
              </button>
            </td>
            <td>
              <StatusLabel tone={executionTone(execution.status)}>{executionWord(execution)}</StatusLabel>
            </td>
            <td className={`wide t-2 cut ${style.input}`}>{describeInput(execution)}</td>
            <td className="wide">
              {execution.agent_id ? (
                <span className="row g6">
                  <AgentMark id={execution.agent_id} size={20} />
                  <span className="cut">{execution.agent_name ?? execution.agent_id}</span>
                </span>
              ) : (
                <span className="t-2">{say(`source_${execution.source}`)}</span>
              )}
            </td>
            <td className="wide num">{formatDuration(execution.execution_time_ms)}</td>
          </tr>
        ))}
      </tbody>
    </RowTable>
  );
}
