import Settings from "icon:settings-2";
import { Button, SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useMay } from "../../api/queries";
import { CHANNELS, channelName } from "../../shared/chat/channel";
import { failureOf } from "../../shared/failures/failures";
import { useRowKeys } from "../../shared/frame/keys";
import { locale } from "../../shared/i18n/language";
import { words } from "../../shared/i18n/words";
import { Pages } from "../../shared/list/pages";
import { SearchField } from "../../shared/list/search_field";
import { Status, type Tone } from "../../shared/marks/status";
import { useNeeds } from "../../shared/states/access";
import { Empty } from "../../shared/states/empty";
import { Failure, RowsLoading } from "../../shared/states/states";
import { duration, exactTime, money, timeSince } from "../../shared/time";
import { CALL_STATUSES, type Filters, hasLogFilters } from "./filters";
import { LogSettingsDialog } from "./log_settings";
import { CALLS_PER_PAGE, type Log, logsQuery } from "./queries";
import style from "./statistics.module.css";
import en from "./words.en.json";

const say = words(en, "features/statistics");
const TONES: Record<Log["status"], Tone> = { completed: "ok", failed: "bad", cancelled: "idle" };
type Props = { agentId: string; filters: Filters };

/** Every turn of the period, newest first, each with the way to its conversation and trace. */
export function Calls({ agentId, filters }: Props) {
  const may = useMay();
  const needs = useNeeds("conversations:read");
  const [isOpen, setOpen] = useState(false);
  return (
    <section className="stack g8" aria-labelledby="calls">
      <div className="row between">
        <h2 id="calls" className="t-sec">
          {say("log")}
        </h2>
        <Button size="xs" variant="default" leftSection={<Settings size={13} />} onClick={() => setOpen(true)}>
          {say("logSettings")}
        </Button>
      </div>
      {may("conversations:read") ? (
        <List agentId={agentId} filters={filters} />
      ) : (
        <p className={`card ${style.none}`}>{needs}</p>
      )}
      {isOpen && <LogSettingsDialog agentId={agentId} onClose={() => setOpen(false)} />}
    </section>
  );
}

function List({ agentId, filters }: Props) {
  const navigate = useNavigate();
  const may = useMay();
  const list = useQuery(logsQuery(agentId, filters));
  const rows = list.data?.data;
  const set = (change: Partial<Filters>) =>
    void navigate({
      to: "/agents/$agentId/statistics",
      params: { agentId },
      search: { ...filters, page: undefined, ...change },
      replace: true,
      resetScroll: false,
    });
  const clear = () => set({ search: undefined, status: undefined, channel: undefined });
  const isFiltered = hasLogFilters(filters);
  return (
    <div className={`card ${style.log}`}>
      <Toolbar filters={filters} onChange={set} />
      {!may("agents:write") && <p className={style.own}>{say("ownOnly")}</p>}
      {list.error && !rows ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : !rows ? (
        <RowsLoading rows={5} columns={[60, 300, 90, 60]} />
      ) : rows.length ? (
        <Table rows={rows} />
      ) : (
        <Empty
          title={say(isFiltered ? "noMatchTitle" : "noLogTitle")}
          actions={
            isFiltered && (
              <Button variant="default" onClick={clear}>
                {say("clear")}
              </Button>
            )
          }
        >
          {say(isFiltered ? "noMatch" : "noLog")}
        </Empty>
      )}
      <Pages
        page={filters.page ?? 1}
        perPage={CALLS_PER_PAGE}
        total={list.data?.pagination.total ?? 0}
        onChange={(page) => set({ page })}
      />
    </div>
  );
}

function Toolbar({ filters, onChange }: { filters: Filters; onChange: (change: Partial<Filters>) => void }) {
  return (
    <div className={`toolbar ${style.filters}`}>
      <SearchField label={say("find")} value={filters.search} onChange={(search) => onChange({ search })} />
      <SegmentedControl
        aria-label={say("status")}
        data={[
          { value: "", label: say("all") },
          ...CALL_STATUSES.map((status) => ({ value: status, label: say(status) })),
        ]}
        value={filters.status ?? ""}
        onChange={(status) => onChange({ status: CALL_STATUSES.find((one) => one === status) })}
      />
      <Select
        size="xs"
        className={style.channel}
        clearable
        clearButtonProps={{ "aria-label": say("clear") }}
        aria-label={say("channel")}
        placeholder={say("anyChannel")}
        data={CHANNELS.map((value) => ({ value, label: channelName(value) }))}
        value={filters.channel ?? null}
        onChange={(channel) => onChange({ channel: channel ?? undefined })}
      />
    </div>
  );
}

function Table({ rows }: { rows: Log[] }) {
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  return (
    <div className="scroll-x" ref={list}>
      <table className={`table boxed ${style.calls}`}>
        <caption className="sr">{say("log")}</caption>
        <thead>
          <tr>
            <th>{say("question")}</th>
            <th>{say("status")}</th>
            <th className="wide">{say("channel")}</th>
            <th className="wide num">{say("tokens")}</th>
            <th className="wide num">{say("cost")}</th>
            <th className="wide num">{say("took")}</th>
            <th className="num">{say("when")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row }: { row: Log }) {
  const error = row.error as { code?: string; message?: string } | null;
  return (
    <tr>
      <td>
        <Link
          data-row
          className="stack"
          to="/conversations/$conversationId"
          params={{ conversationId: row.conversation_id }}
          search={{ correlation: row.correlation_id }}
        >
          <span className={`t-500 cut ${style.what}`}>{row.user_message ?? say("notKept")}</span>
          <span className={`t-12 t-3 cut ${style.what}`}>{failureOf(error) ?? row.assistant_message ?? row.model}</span>
        </Link>
      </td>
      <td title={error?.code}>
        <Status tone={TONES[row.status]}>{say(row.status)}</Status>
      </td>
      <td className="wide t-2">{channelName(row.channel)}</td>
      <td className="wide num t-2">{row.usage ? row.usage.total_tokens.toLocaleString(locale) : "–"}</td>
      <td className="wide num t-2">{row.estimated_cost_usd === null ? "–" : money(row.estimated_cost_usd)}</td>
      <td className="wide num t-2">{duration(row.response_time_ms)}</td>
      <td className="num t-2" title={exactTime(row.created_at)}>
        {timeSince(row.created_at)}
      </td>
    </tr>
  );
}
