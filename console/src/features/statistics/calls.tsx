import Settings from "icon:settings-2";
import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { channelNameOf } from "../../shared/channels/channel";
import { CHANNELS } from "../../shared/channels/channel_keys";
import { describeFailure } from "../../shared/failures/failures";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { FilterSelect } from "../../shared/list/filter_select";
import { ListRows } from "../../shared/list/list_rows";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { RowTable } from "../../shared/list/row_table";
import { SearchField } from "../../shared/list/search_field";
import { StatusLabel, type Tone } from "../../shared/marks/status";
import { useMissingAccessHint } from "../../shared/states/access";
import { EmptyState } from "../../shared/states/empty";
import { formatDuration, formatExactTime, formatMoney, formatTimeSince } from "../../shared/time";
import { CALL_STATUSES, type Filters, hasLogFilters } from "./filters";
import { LogSettingsDialog } from "./log_settings";
import { CALLS_PER_PAGE, type Log, logsQuery } from "./queries";
import style from "./statistics.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/statistics");
const TONES: Record<Log["status"], Tone> = { completed: "ok", failed: "bad", cancelled: "idle" };
type Props = { agentId: string; filters: Filters };

/** Every turn of the period, newest first, each with the way to its conversation and trace. */
export function CallLog({ agentId, filters }: Props) {
  const may = usePermissionCheck();
  const needs = useMissingAccessHint("conversations:read");
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
        <CallList agentId={agentId} filters={filters} />
      ) : (
        <p className={`card ${style.none}`}>{needs}</p>
      )}
      {isOpen && <LogSettingsDialog agentId={agentId} onClose={() => setOpen(false)} />}
    </section>
  );
}

function CallList({ agentId, filters }: Props) {
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const list = useQuery(logsQuery(agentId, filters));
  const rows = list.data?.data;
  const changeFilters = (change: Partial<Filters>) =>
    void navigate({
      to: "/agents/$agentId/log",
      params: { agentId },
      search: { ...filters, page: undefined, ...change },
      replace: true,
      resetScroll: false,
    });
  const clearFilters = () => changeFilters({ search: undefined, status: undefined, channel: undefined });
  const isFiltered = hasLogFilters(filters);
  return (
    <div className={`card ${style.log}`}>
      <CallToolbar filters={filters} onChange={changeFilters} />
      {!may("agents:write") && <p className={style.own}>{say("ownOnly")}</p>}
      <ListRows
        list={list}
        rows={rows}
        columns={[60, 300, 90, 60]}
        count={5}
        none={
          isFiltered ? (
            <NothingFound onClear={clearFilters}>{say("noMatch")}</NothingFound>
          ) : (
            <EmptyState title={say("noLogTitle")}>{say("noLog")}</EmptyState>
          )
        }
      >
        {(rows) => <CallTable rows={rows} />}
      </ListRows>
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={CALLS_PER_PAGE}
        total={list.data?.pagination.total ?? 0}
        onChange={(page) => changeFilters({ page })}
      />
    </div>
  );
}

function CallToolbar({ filters, onChange }: { filters: Filters; onChange: (change: Partial<Filters>) => void }) {
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
      <FilterSelect
        className={style.channel}
        label={say("channel")}
        any={say("anyChannel")}
        choices={CHANNELS.map((value) => ({ value, label: channelNameOf(value) }))}
        value={filters.channel}
        onChange={(value) => onChange({ channel: CHANNELS.find((channel) => channel === value) })}
      />
    </div>
  );
}

function CallTable({ rows }: { rows: Log[] }) {
  return (
    <RowTable title={say("log")} className={`boxed ${style.calls}`}>
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
          <CallRow key={row.id} row={row} />
        ))}
      </tbody>
    </RowTable>
  );
}

function CallRow({ row }: { row: Log }) {
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
          <span className={`t-12 t-3 cut ${style.what}`}>
            {describeFailure(error) ?? row.assistant_message ?? row.model}
          </span>
        </Link>
      </td>
      <td title={error?.code}>
        <StatusLabel tone={TONES[row.status]}>{say(row.status)}</StatusLabel>
      </td>
      <td className="wide t-2">{channelNameOf(row.channel)}</td>
      <td className="wide num t-2">{row.usage ? row.usage.total_tokens.toLocaleString(locale) : "–"}</td>
      <td className="wide num t-2">{row.estimated_cost_usd === null ? "–" : formatMoney(row.estimated_cost_usd)}</td>
      <td className="wide num t-2">{formatDuration(row.response_time_ms)}</td>
      <td className="num t-2" title={formatExactTime(row.created_at)}>
        {formatTimeSince(row.created_at)}
      </td>
    </tr>
  );
}
