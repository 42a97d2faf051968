import Plus from "icon:plus";
import { Button, SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useState } from "react";
import { useMay } from "../../api/queries";
import { Bar } from "../../shared/frame/bar";
import { useKeys } from "../../shared/frame/keys";
import { words } from "../../shared/i18n/words";
import { Pages } from "../../shared/list/pages";
import { SearchField } from "../../shared/list/search_field";
import { Logo } from "../../shared/marks/logo";
import { chatModelsQuery } from "../../shared/providers/queries";
import { Empty } from "../../shared/states/empty";
import { Failure, RowsLoading } from "../../shared/states/states";
import style from "./agents.module.css";
import { Bulk } from "./bulk";
import { CreateAgent } from "./create_agent";
import { DeleteAgent } from "./delete_agent";
import { ACTIVITY_PERIODS, AGENT_STATUSES, type AgentFilters, hasAgentFilters } from "./filters";
import { ImportAgent } from "./import_agent";
import { AGENTS_PER_PAGE, type Agent, agentsQuery } from "./queries";
import { AgentTable } from "./table";
import { Templates } from "./templates";
import en from "./words.en.json";

const say = words(en, "features/agents");

export default function Agents() {
  const filters = useSearch({ from: "/frame/agents" });
  const navigate = useNavigate();
  const may = useMay();
  const list = useQuery(agentsQuery(filters));
  const [doomed, setDoomed] = useState<Agent>();
  const set = (change: Partial<AgentFilters>) =>
    void navigate({ to: "/agents", search: { ...filters, page: undefined, ...change }, replace: true });
  const open = () => set({ create: true });
  const canCreate = may("agents:write");
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const choose = useCallback(
    (ids: string[], isOn: boolean) =>
      setChosen((before) => new Set(isOn ? [...before, ...ids] : [...before].filter((id) => !ids.includes(id)))),
    [],
  );
  useKeys(canCreate ? { c: open } : {});
  // Keys and clicks are answered first; the rows they brought follow.
  const rows = useDeferredValue(list.data?.data);
  const chosenRows = (rows ?? []).filter((one) => chosen.has(one.id));
  const isEmpty = rows?.length === 0 && !hasAgentFilters(filters);
  return (
    <>
      <Bar title={say("title")} after={list.data && <span className="t-3 num t-13">{list.data.pagination.total}</span>}>
        {canCreate && <ImportAgent />}
        {canCreate && (
          <Button leftSection={<Plus size={14} />} onClick={open}>
            {say("new")}
          </Button>
        )}
      </Bar>
      {!isEmpty && <Toolbar filters={filters} onChange={set} />}
      {list.error && !rows ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : !rows ? (
        <RowsLoading columns={[30, 300, 96, 140, 60]} />
      ) : isEmpty ? (
        <NoAgents onCreate={canCreate ? (template) => set({ create: true, template }) : undefined} />
      ) : rows.length === 0 ? (
        <Empty
          title={say("noMatchTitle")}
          actions={
            <Button variant="default" onClick={() => set({ search: undefined, status: undefined, model: undefined })}>
              {say("clear")}
            </Button>
          }
        >
          {say("noMatch")}
        </Empty>
      ) : (
        <AgentTable rows={rows} chosen={chosen} onChoose={choose} onDelete={setDoomed} />
      )}
      {chosenRows.length > 0 && <Bulk chosen={chosenRows} onClear={() => setChosen(new Set())} />}
      <Pages
        page={filters.page ?? 1}
        perPage={AGENTS_PER_PAGE}
        total={list.data?.pagination.total ?? 0}
        onChange={(page) => set({ page })}
      />
      {filters.create && canCreate && (
        <CreateAgent templateId={filters.template} onClose={() => set({ create: undefined, template: undefined })} />
      )}
      {doomed && <DeleteAgent agent={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

function Toolbar({ filters, onChange }: { filters: AgentFilters; onChange: (change: Partial<AgentFilters>) => void }) {
  const { data: models } = useQuery(chatModelsQuery);
  return (
    <div className="toolbar">
      <SearchField label={say("find")} value={filters.search} onChange={(search) => onChange({ search })} />
      <SegmentedControl
        aria-label={say("status")}
        data={[
          { value: "", label: say("all") },
          ...AGENT_STATUSES.map((status) => ({ value: status, label: say(status) })),
        ]}
        value={filters.status ?? ""}
        onChange={(status) => onChange({ status: AGENT_STATUSES.find((one) => one === status) })}
      />
      <Select
        size="xs"
        w={180}
        searchable
        clearable
        aria-label={say("model")}
        placeholder={say("anyModel")}
        data={(models ?? []).map((one) => one.id)}
        value={filters.model ?? null}
        onChange={(model) => onChange({ model: model ?? undefined })}
      />
      <Select
        size="xs"
        w={110}
        allowDeselect={false}
        aria-label={say("period")}
        data={ACTIVITY_PERIODS.map((value) => ({ value, label: say(`period_${value}`) }))}
        value={filters.period ?? "7d"}
        onChange={(period) => onChange({ period: ACTIVITY_PERIODS.find((one) => one === period && one !== "7d") })}
      />
    </div>
  );
}

function NoAgents({ onCreate }: { onCreate?: (template?: string) => void }) {
  const art = (
    <span style={{ color: "var(--r-ink)", marginBottom: 6 }}>
      <Logo size={40} />
    </span>
  );
  return (
    <>
      <Empty
        art={art}
        title={say("emptyTitle")}
        actions={onCreate && <Button onClick={() => onCreate()}>{say("create")}</Button>}
      >
        {say("emptyText")}
      </Empty>
      {onCreate && (
        <div className={style.empty}>
          <Templates count={4} onChoose={(template) => onCreate(template.id)} />
        </div>
      )}
    </>
  );
}
