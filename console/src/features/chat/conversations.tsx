import Search from "icon:search";
import { Button, Kbd, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useMay } from "../../api/queries";
import { Bar } from "../../shared/frame/bar";
import { useKeys, useRowKeys } from "../../shared/frame/keys";
import { words } from "../../shared/i18n/words";
import { AgentMark } from "../../shared/parts";
import { Empty, Failure, RowsLoading } from "../../shared/states/states";
import { ago, exact } from "../../shared/time";
import style from "./chat.module.css";
import { type ConversationFilters, hasFilters, STATUSES } from "./filters";
import { Channel, ConversationStatus } from "./parts";
import { agentNamesQuery, type Conversation, conversationsQuery, PER_PAGE } from "./queries";
import en from "./words.en.json";

const say = words(en);
const SEARCH_WAIT_MS = 250;

export default function Conversations() {
  const filters = useSearch({ from: "/frame/conversations" });
  const navigate = useNavigate();
  const may = useMay();
  const list = useQuery(conversationsQuery(filters));
  const { data: names = new Map<string, string>() } = useQuery({ ...agentNamesQuery, enabled: may("agents:read") });
  const set = (change: Partial<ConversationFilters>) =>
    void navigate({ to: "/conversations", search: { ...filters, page: undefined, ...change }, replace: true });
  const rows = list.data?.data;
  const total = list.data?.pagination.total ?? 0;
  const isEmpty = rows?.length === 0 && !hasFilters(filters);
  return (
    <>
      <Bar
        title={say("title")}
        after={list.data && <span className="t-3 num t-13">{total.toLocaleString("en")}</span>}
      />
      {!isEmpty && <Toolbar filters={filters} names={names} onChange={set} />}
      {list.error && !rows ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : !rows ? (
        <RowsLoading columns={[30, 300, 140, 96, 60]} />
      ) : isEmpty ? (
        <Empty title={say("emptyTitle")}>{say("empty")}</Empty>
      ) : rows.length === 0 ? (
        <Empty
          title={say("noMatchTitle")}
          actions={
            <Button variant="default" onClick={() => set({ search: undefined, status: undefined, agent: undefined })}>
              {say("clear")}
            </Button>
          }
        >
          {say("noMatch")}
        </Empty>
      ) : (
        <Table rows={rows} names={names} />
      )}
      {total > PER_PAGE && <Pages page={filters.page ?? 1} total={total} onChange={(page) => set({ page })} />}
    </>
  );
}

type ToolbarProps = {
  filters: ConversationFilters;
  names: Map<string, string>;
  onChange: (change: Partial<ConversationFilters>) => void;
};

function Toolbar({ filters, names, onChange }: ToolbarProps) {
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
      {names.size > 0 && (
        <Select
          size="xs"
          className={style.agents}
          aria-label={say("agent")}
          placeholder={say("allAgents")}
          searchable
          clearable
          clearButtonProps={{ "aria-label": say("clear") }}
          data={[...names].map(([value, label]) => ({ value, label }))}
          value={filters.agent ?? null}
          onChange={(agent) => onChange({ agent: agent ?? undefined })}
        />
      )}
      <SegmentedControl
        aria-label={say("status")}
        data={[{ value: "", label: say("all") }, ...STATUSES.map((status) => ({ value: status, label: say(status) }))]}
        value={filters.status ?? ""}
        onChange={(status) => onChange({ status: STATUSES.find((one) => one === status) })}
      />
    </div>
  );
}

function Table({ rows, names }: { rows: Conversation[]; names: Map<string, string> }) {
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  return (
    <div className="scroll-x" ref={list}>
      <table className={`table ${style.table}`}>
        <caption className="sr">{say("title")}</caption>
        <thead>
          <tr>
            <th>{say("titleColumn")}</th>
            <th className="wide">{say("status")}</th>
            <th className="wide">{say("channel")}</th>
            <th className="wide num">{say("messages")}</th>
            <th className="num">{say("last")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <tr key={one.id}>
              <td>
                <Link
                  data-row
                  className="row g12"
                  to="/conversations/$conversationId"
                  params={{ conversationId: one.id }}
                >
                  <AgentMark id={one.agent_id} />
                  <span className="stack">
                    <span className={`t-500 cut ${style.what}`}>{one.title || say("untitled")}</span>
                    <span className={`t-12 t-3 cut ${style.what}`}>{names.get(one.agent_id) ?? one.agent_id}</span>
                  </span>
                </Link>
              </td>
              <td className="wide">
                <ConversationStatus status={one.status} />
              </td>
              <td className="wide t-2">
                <Channel of={one.channel} />
              </td>
              <td className="wide num t-2">{one.message_count.toLocaleString("en")}</td>
              <td className="num t-2" title={exact(one.last_message_at)}>
                {ago(one.last_message_at)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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
