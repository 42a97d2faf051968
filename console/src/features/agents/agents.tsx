import Plus from "icon:plus";
import { Button, SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { usePageCommands } from "../../shared/frame/commands";
import { createTranslator } from "../../shared/i18n/words";
import { ListCount } from "../../shared/list/list_count";
import { ListRows } from "../../shared/list/list_rows";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { SearchField } from "../../shared/list/search_field";
import { Logo } from "../../shared/marks/logo";
import { chatModelsQuery } from "../../shared/providers/queries";
import { EmptyState } from "../../shared/states/empty";
import style from "./agents.module.css";
import { BulkActionBar } from "./bulk";
import { CreateAgentDialog } from "./create_agent";
import { DeleteAgentDialog } from "./delete_agent";
import { ACTIVITY_PERIODS, AGENT_STATUSES, type AgentFilters } from "./filters";
import { ImportAgentButton } from "./import_agent";
import { AGENTS_PER_PAGE, type Agent, agentsQuery, hasAgentFilters } from "./queries";
import { AgentTable } from "./table";
import { TemplateList } from "./templates";
import en from "./words.en.json";

const say = createTranslator(en, "features/agents");

export default function AgentsPage() {
  const filters = useSearch({ from: "/frame/agents" });
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const list = useQuery(agentsQuery(filters));
  const [doomed, setDoomed] = useState<Agent>();
  const changeFilters = (change: Partial<AgentFilters>) =>
    void navigate({ to: "/agents", search: { ...filters, page: undefined, ...change }, replace: true });
  const openCreateDialog = () => changeFilters({ create: true });
  const canCreate = may("agents:write");
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const choose = useCallback(
    (ids: string[], isOn: boolean) =>
      setChosen((before) => new Set(isOn ? [...before, ...ids] : [...before].filter((id) => !ids.includes(id)))),
    [],
  );
  usePageCommands(canCreate ? [{ label: say("new"), keys: "c", run: openCreateDialog }] : []);
  // Keys and clicks are answered first; the rows they brought follow.
  const rows = useDeferredValue(list.data?.data);
  const chosenRows = (rows ?? []).filter((one) => chosen.has(one.id));
  const isEmpty = rows?.length === 0 && !hasAgentFilters(filters);
  return (
    <>
      <PageBar title={say("title")} after={<ListCount total={list.data?.pagination.total} />}>
        {canCreate && <ImportAgentButton />}
        {canCreate && (
          <Button leftSection={<Plus size={14} />} onClick={openCreateDialog}>
            {say("new")}
          </Button>
        )}
      </PageBar>
      {!isEmpty && <AgentToolbar filters={filters} onChange={changeFilters} />}
      <ListRows
        list={list}
        rows={rows}
        columns={[30, 300, 96, 140, 60]}
        none={
          isEmpty ? (
            <NoAgents onCreate={canCreate ? (template) => changeFilters({ create: true, template }) : undefined} />
          ) : (
            <NothingFound onClear={() => changeFilters({ search: undefined, status: undefined, model: undefined })}>
              {say("noMatch")}
            </NothingFound>
          )
        }
      >
        {(rows) => <AgentTable rows={rows} chosen={chosen} onChoose={choose} onDelete={setDoomed} />}
      </ListRows>
      {chosenRows.length > 0 && <BulkActionBar chosen={chosenRows} onClear={() => setChosen(new Set())} />}
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={AGENTS_PER_PAGE}
        total={list.data?.pagination.total ?? 0}
        onChange={(page) => changeFilters({ page })}
      />
      {filters.create && canCreate && (
        <CreateAgentDialog
          templateId={filters.template}
          onClose={() => changeFilters({ create: undefined, template: undefined })}
        />
      )}
      {doomed && <DeleteAgentDialog agent={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

function AgentToolbar({
  filters,
  onChange,
}: {
  filters: AgentFilters;
  onChange: (change: Partial<AgentFilters>) => void;
}) {
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
      <EmptyState
        art={art}
        title={say("emptyTitle")}
        actions={onCreate && <Button onClick={() => onCreate()}>{say("create")}</Button>}
      >
        {say("emptyText")}
      </EmptyState>
      {onCreate && (
        <div className={style.empty}>
          <TemplateList count={4} onChoose={(template) => onCreate(template.id)} />
        </div>
      )}
    </>
  );
}
