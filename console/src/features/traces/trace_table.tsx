import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { describeFailureCode } from "../../shared/failures/failures";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { RowTable } from "../../shared/list/row_table";
import { AgentMark } from "../../shared/marks/agent_mark";
import { KindIcon } from "../../shared/marks/kind_icon";
import { StatusLabel } from "../../shared/marks/status";
import { formatDuration, formatExactTime, formatMoney, formatTimeSince } from "../../shared/time";
import { SPAN_ICONS } from "../../shared/trace/layout";
import type { ListedTrace } from "./queries";
import style from "./traces.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/traces");

export const TraceTable = memo(function Table({ rows }: { rows: ListedTrace[] }) {
  return (
    <RowTable title={say("traces")} className={style.table}>
      <thead>
        <tr>
          <th>{say("name")}</th>
          <th>{say("outcome")}</th>
          <th className="wide num">{say("steps")}</th>
          <th className="wide num">{say("tokens")}</th>
          <th className="wide num">{say("cost")}</th>
          <th className="wide num">{say("took")}</th>
          <th className="num">{say("started")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          // With a filter, each part of a trace that matches is a row of its own.
          <TraceRow key={`${row.trace_id} ${row.kind} ${row.started_at}`} row={row} />
        ))}
      </tbody>
    </RowTable>
  );
});

/** "invoke_agent Support" without the word of the convention. */
const subjectOf = (name: string) => name.replace(/^\S+ /, "");

function TraceRow({ row }: { row: ListedTrace }) {
  const tokens = row.usage.input_tokens + row.usage.output_tokens;
  const isFailed = row.status === "error";
  return (
    <tr>
      <td>
        <Link data-row className="row g12" to="/traces/$traceId" params={{ traceId: row.trace_id }}>
          {row.agent_id && row.kind === "turn" ? (
            <AgentMark id={row.agent_id} />
          ) : (
            <KindIcon kind={SPAN_ICONS[row.kind]} />
          )}
          <span className="stack">
            <span className={`t-500 cut ${style.what}`}>{subjectOf(row.name)}</span>
            <span className={`t-12 t-3 cut ${style.what}`}>{say(`kind_${row.kind}`)}</span>
          </span>
        </Link>
      </td>
      <td title={row.error?.message}>
        <StatusLabel tone={isFailed ? "bad" : "ok"}>
          {isFailed ? (describeFailureCode(row.error?.code) ?? say("failed")) : say("ok")}
        </StatusLabel>
      </td>
      <td className="wide num t-2">{row.span_count.toLocaleString(locale)}</td>
      <td className="wide num t-2">{tokens ? tokens.toLocaleString(locale) : "–"}</td>
      <td className="wide num t-2">{row.estimated_cost_usd ? formatMoney(row.estimated_cost_usd) : "–"}</td>
      <td className="wide num t-2">{formatDuration(row.duration_ms)}</td>
      <td className="num t-2" title={formatExactTime(row.started_at)}>
        {formatTimeSince(row.started_at)}
      </td>
    </tr>
  );
}
