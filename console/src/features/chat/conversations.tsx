import { Button, SegmentedControl, Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { memo, useDeferredValue, useRef, useState } from "react";
import { useMay } from "../../api/queries";
import { agentQuery } from "../../shared/agent/queries";
import { Channel } from "../../shared/chat/channel";
import { Bar } from "../../shared/frame/bar";
import { useRowKeys } from "../../shared/frame/keys";
import { locale } from "../../shared/i18n/language";
import { words } from "../../shared/i18n/words";
import { Pages } from "../../shared/list/pages";
import { SearchField } from "../../shared/list/search_field";
import { AgentMark } from "../../shared/marks/agent_mark";
import { Empty } from "../../shared/states/empty";
import { Failure, RowsLoading } from "../../shared/states/states";
import { exactTime, timeSince } from "../../shared/time";
import style from "./chat.module.css";
import { ConversationStatus } from "./conversation_status";
import { CONVERSATION_STATUSES, type ConversationFilters, hasConversationFilters } from "./filters";
import { CONVERSATIONS_PER_PAGE, type Conversation, conversationAgentsQuery, conversationsQuery } from "./queries";
import en from "./words.en.json";

const say = words(en, "features/chat");
const SEARCH_WAIT_MS = 250;

export default function Conversations() {
  const filters = useSearch({ from: "/frame/conversations" });
  const navigate = useNavigate();
  const may = useMay();
  const list = useQuery(conversationsQuery(filters));
  const set = (change: Partial<ConversationFilters>) =>
    void navigate({ to: "/conversations", search: { ...filters, page: undefined, ...change }, replace: true });
  // People who build agents read everybody's conversations, others their own.
  const seesAll = may("agents:write");
  // The click on a filter is answered first; the rows it brought follow.
  const rows = useDeferredValue(list.data?.data);
  const total = list.data?.pagination.total ?? 0;
  const isEmpty = rows?.length === 0 && !hasConversationFilters(filters);
  return (
    <>
      <Bar
        title={say("title")}
        after={list.data && <span className="t-3 num t-13">{total.toLocaleString(locale)}</span>}
      />
      {!isEmpty && <Toolbar filters={filters} onChange={set} />}
      {list.error && !rows ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : !rows ? (
        <RowsLoading columns={[30, 300, 140, 96, 60]} />
      ) : isEmpty ? (
        <Empty title={say(seesAll ? "emptyTitle" : "emptyOwnTitle")}>{say(seesAll ? "empty" : "emptyOwn")}</Empty>
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
        <Table rows={rows} />
      )}
      <Pages
        page={filters.page ?? 1}
        perPage={CONVERSATIONS_PER_PAGE}
        total={total}
        onChange={(page) => set({ page })}
      />
    </>
  );
}

type ToolbarProps = {
  filters: ConversationFilters;
  onChange: (change: Partial<ConversationFilters>) => void;
};

function Toolbar({ filters, onChange }: ToolbarProps) {
  const may = useMay();
  return (
    <div className="toolbar">
      <SearchField label={say("find")} value={filters.search} onChange={(search) => onChange({ search })} />
      {may("agents:read") && <AgentFilter agent={filters.agent} onChange={(agent) => onChange({ agent })} />}
      <SegmentedControl
        aria-label={say("status")}
        data={[
          { value: "", label: say("all") },
          ...CONVERSATION_STATUSES.map((status) => ({ value: status, label: say(status) })),
        ]}
        value={filters.status ?? ""}
        onChange={(status) => onChange({ status: CONVERSATION_STATUSES.find((one) => one === status) })}
      />
    </div>
  );
}

/** One agent of all: the first are there to choose, the server finds the others by name. */
function AgentFilter({ agent, onChange }: { agent?: string; onChange: (agent?: string) => void }) {
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [search] = useDebouncedValue(text.trim(), SEARCH_WAIT_MS);
  const { data: chosen } = useQuery({ ...agentQuery(agent ?? ""), enabled: Boolean(agent) });
  // The field shows the name of the chosen agent, which is no search.
  const { data: found } = useQuery({
    ...conversationAgentsQuery(search === chosen?.name ? "" : search),
    enabled: isOpen,
  });
  // Hidden options are drawn too, with every filter that is set: a closed list has none but the chosen one.
  const choices = new Map((isOpen ? (found?.data ?? []) : []).map((one) => [one.id, one.name]));
  if (agent) choices.set(agent, chosen?.name ?? agent);
  return (
    <Select
      size="xs"
      className={style.agents}
      aria-label={say("agent")}
      placeholder={say("allAgents")}
      searchable
      clearable
      clearButtonProps={{ "aria-label": say("clear") }}
      data={[...choices].map(([value, label]) => ({ value, label }))}
      nothingFoundMessage={found && say("noMatchTitle")}
      value={agent ?? null}
      onSearchChange={setText}
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={() => setOpen(false)}
      onChange={(value) => onChange(value ?? undefined)}
    />
  );
}

const Table = memo(function Table({ rows }: { rows: Conversation[] }) {
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
            <Row key={one.id} of={one} />
          ))}
        </tbody>
      </table>
    </div>
  );
});

const Row = memo(function Row({ of: one }: { of: Conversation }) {
  return (
    <tr>
      <td>
        <Link data-row className="row g12" to="/conversations/$conversationId" params={{ conversationId: one.id }}>
          <AgentMark id={one.agent_id} />
          <span className="stack">
            <span className={`t-500 cut ${style.what}`}>{one.title || say("untitled")}</span>
            <span className={`t-12 t-3 cut ${style.what}`}>{one.agent_name ?? one.agent_id}</span>
          </span>
        </Link>
      </td>
      <td className="wide">
        <ConversationStatus status={one.status} />
      </td>
      <td className="wide t-2">
        <Channel of={one.channel} />
      </td>
      <td className="wide num t-2">{one.message_count.toLocaleString(locale)}</td>
      <td className="num t-2" title={exactTime(one.last_message_at)}>
        {timeSince(one.last_message_at)}
      </td>
    </tr>
  );
});
