import Plus from "icon:plus";
import Search from "icon:search";
import { Button, Kbd, SegmentedControl, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useMay } from "../../api/queries";
import { Bar } from "../../shared/frame/bar";
import { useKeys, useRowKeys } from "../../shared/frame/keys";
import { words } from "../../shared/i18n/words";
import { AgentMark, Mark } from "../../shared/parts";
import { Empty, Failure, RowsLoading } from "../../shared/states/states";
import { ago, exact } from "../../shared/time";
import style from "./agents.module.css";
import { type AgentFilters, hasFilters, STATUSES } from "./filters";
import { AgentMenu, AgentStatus, CreateAgent, DeleteAgent } from "./parts";
import { type Agent, agentsQuery, PER_PAGE } from "./queries";
import en from "./words.en.json";

const say = words(en);
const SEARCH_WAIT_MS = 250;

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
  useKeys(canCreate ? { c: open } : {});
  const rows = list.data?.data;
  const isEmpty = rows?.length === 0 && !hasFilters(filters);
  return (
    <>
      <Bar title={say("title")} after={list.data && <span className="t-3 num t-13">{list.data.pagination.total}</span>}>
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
        <NoAgents onCreate={canCreate ? open : undefined} />
      ) : rows.length === 0 ? (
        <Empty
          title={say("noMatchTitle")}
          actions={
            <Button variant="default" onClick={() => set({ search: undefined, status: undefined })}>
              {say("clear")}
            </Button>
          }
        >
          {say("noMatch")}
        </Empty>
      ) : (
        <Table rows={rows} onDelete={setDoomed} />
      )}
      {list.data && list.data.pagination.total > PER_PAGE && (
        <Pages page={filters.page ?? 1} total={list.data.pagination.total} onChange={(page) => set({ page })} />
      )}
      {filters.create && canCreate && <CreateAgent onClose={() => set({ create: undefined })} />}
      {doomed && <DeleteAgent agent={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

function Toolbar({ filters, onChange }: { filters: AgentFilters; onChange: (change: Partial<AgentFilters>) => void }) {
  const [text, setText] = useState(filters.search ?? "");
  const field = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => field.current?.focus() });
  const change = useRef(onChange);
  change.current = onChange;
  useEffect(() => {
    if (text === (filters.search ?? "")) return;
    const timer = setTimeout(() => change.current({ search: text || undefined }), SEARCH_WAIT_MS);
    return () => clearTimeout(timer);
  }, [text, filters.search]);
  return (
    <div className="toolbar">
      <TextInput
        ref={field}
        size="xs"
        className={style.find}
        leftSection={<Search size={14} />}
        rightSection={<Kbd>/</Kbd>}
        placeholder={say("find")}
        aria-label={say("find")}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <SegmentedControl
        aria-label={say("status")}
        data={[{ value: "", label: say("all") }, ...STATUSES.map((status) => ({ value: status, label: say(status) }))]}
        value={filters.status ?? ""}
        onChange={(status) => onChange({ status: STATUSES.find((one) => one === status) })}
      />
    </div>
  );
}

function Table({ rows, onDelete }: { rows: Agent[]; onDelete: (agent: Agent) => void }) {
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  return (
    <div className="scroll-x" ref={list}>
      <table className={`table ${style.table}`}>
        <caption className="sr">{say("title")}</caption>
        <thead>
          <tr>
            <th>{say("name")}</th>
            <th>{say("status")}</th>
            <th className="wide">{say("model")}</th>
            <th className="wide">{say("changed")}</th>
            <th className={style.menu}>
              <span className="sr">{say("actions", { name: "" })}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((agent) => (
            <tr key={agent.id}>
              <td>
                <Link data-row className="row g12" to="/agents/$agentId" params={{ agentId: agent.id }}>
                  <AgentMark id={agent.id} />
                  <span className="stack">
                    <span className={`t-500 cut ${style.what}`}>{agent.name}</span>
                    {agent.description && <span className={`t-12 t-3 cut ${style.what}`}>{agent.description}</span>}
                  </span>
                </Link>
              </td>
              <td>
                <AgentStatus status={agent.status} />
              </td>
              <td className="mono t-12 t-2 wide">{agent.primary_model}</td>
              <td className="wide t-2 num" title={exact(agent.updated_at)}>
                {ago(agent.updated_at)}
              </td>
              <td>
                <AgentMenu agent={agent} onDelete={() => onDelete(agent)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NoAgents({ onCreate }: { onCreate?: () => void }) {
  const art = (
    <span style={{ color: "var(--r-ink)", marginBottom: 6 }}>
      <Mark size={40} />
    </span>
  );
  return (
    <Empty
      art={art}
      title={say("emptyTitle")}
      actions={onCreate && <Button onClick={onCreate}>{say("create")}</Button>}
    >
      {say("emptyText")}
    </Empty>
  );
}

function Pages({ page, total, onChange }: { page: number; total: number; onChange: (page: number) => void }) {
  const from = (page - 1) * PER_PAGE + 1;
  const to = Math.min(total, page * PER_PAGE);
  return (
    <div className={style.foot}>
      <span className="t-13 t-3 num">{say("pageOf", { from, to, total })}</span>
      <Button size="xs" variant="default" disabled={page <= 1} onClick={() => onChange(page - 1)}>
        {say("previousPage")}
      </Button>
      <Button size="xs" variant="default" disabled={to >= total} onClick={() => onChange(page + 1)}>
        {say("nextPage")}
      </Button>
    </div>
  );
}
