import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { usePermissionCheck } from "../../api/queries";
import { AgentChip } from "../../shared/agent/agent_chip";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { ChoiceChip } from "../../shared/list/choice_chip";
import { ListCount } from "../../shared/list/list_count";
import { ListRows } from "../../shared/list/list_rows";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { EmptyState } from "../../shared/states/empty";
import { ConversationTabs } from "../../shared/trace/conversation_tabs";
import { LookSwitch } from "../../shared/trace/look_switch";
import { TRACE_KINDS, TRACE_PERIODS, type TraceFilters } from "./filters";
import { TRACES_PER_PAGE, traceListQuery } from "./queries";
import { hasTraceFilters, tracePeriodOf } from "./trace_query";
import { TraceTable } from "./trace_table";
import en from "./words.en.json";

const say = createTranslator(en, "features/traces");

/** What agents, workflows and jobs did, newest or slowest first. */
export default function TracesPage() {
  const filters = useSearch({ from: "/frame/traces" });
  const navigate = useNavigate();
  const list = useQuery(traceListQuery(filters));
  const changeFilters = (change: Partial<TraceFilters>) =>
    void navigate({ to: "/traces", search: { ...filters, page: undefined, ...change }, replace: true });
  const rows = list.data?.data;
  const total = list.data?.pagination.total ?? 0;
  const isFiltered = hasTraceFilters(filters) || Boolean(filters.sort);
  return (
    <>
      <PageBar title={say("traces")} after={<ListCount total={list.data?.pagination.total} />} />
      <ConversationTabs />
      {(isFiltered || rows?.length !== 0) && <Toolbar filters={filters} onChange={changeFilters} />}
      <ListRows
        list={list}
        rows={rows}
        columns={[30, 300, 96, 96]}
        none={
          isFiltered ? (
            <NothingFound onClear={() => void navigate({ to: "/traces", search: {}, replace: true })}>
              {say("noMatch")}
            </NothingFound>
          ) : (
            <EmptyState title={say("emptyTitle")}>{say("empty")}</EmptyState>
          )
        }
      >
        {(rows) => <TraceTable rows={rows} />}
      </ListRows>
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={TRACES_PER_PAGE}
        total={total}
        onChange={(page) => changeFilters({ page })}
      />
    </>
  );
}

type ToolbarProps = { filters: TraceFilters; onChange: (change: Partial<TraceFilters>) => void };

function Toolbar({ filters, onChange }: ToolbarProps) {
  const may = usePermissionCheck();
  return (
    <div className="toolbar">
      <LookSwitch value={filters.show} onChange={(show) => onChange({ show })} />
      <ChoiceChip
        label={say("period")}
        value={tracePeriodOf(filters)}
        choices={TRACE_PERIODS.map((value) => ({ value, label: say(`period_${value}`) }))}
        onChange={(chosen) => onChange({ period: TRACE_PERIODS.find((one) => one === chosen) })}
      />
      <ChoiceChip
        label={say("kind")}
        value={filters.kind}
        choices={TRACE_KINDS.map((value) => ({ value, label: say(`kind_${value}`) }))}
        onChange={(chosen) => onChange({ kind: TRACE_KINDS.find((one) => one === chosen) })}
      />
      {may("agents:read") && <AgentChip agent={filters.agent} onChange={(agent) => onChange({ agent })} />}
      <ChoiceChip
        label={say("order")}
        value={filters.sort}
        choices={[{ value: "slowest", label: say("slowest") }]}
        onChange={(chosen) => onChange({ sort: chosen === "slowest" ? chosen : undefined })}
      />
    </div>
  );
}
