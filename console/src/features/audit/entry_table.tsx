import { Link } from "@tanstack/react-router";
import { memo, useRef } from "react";
import { auditActionName } from "../../shared/audit_actions/actions";
import { useRowKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel } from "../../shared/marks/status";
import { useNamesById } from "../../shared/people/names";
import { formatExactTime, formatTimeOfDay } from "../../shared/time";
import style from "./audit.module.css";
import { describeActorKind, findSubjectName, readEntryActor } from "./entry_words";
import type { AuditFilters } from "./filters";
import type { AuditEntry } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/audit");

export function AuditEntryTable({ entries, filters }: { entries: AuditEntry[]; filters: AuditFilters }) {
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  const nameOf = useNamesById(entries.map((entry) => readEntryActor(entry).id).filter((id) => id.includes("_")));
  return (
    <div ref={list}>
      <table className={`table ${style.table} ${filters.entry ? style.beside : ""}`}>
        <caption className="sr">{say("title")}</caption>
        <thead>
          <tr>
            <th>{say("what")}</th>
            <th className="wide">{say("who")}</th>
            <th className={`wide ${style.object}`}>{say("object")}</th>
            <th className="wide">{say("outcome")}</th>
            <th className="num">{say("when")}</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <EntryRow
              key={entry.id}
              entry={entry}
              actor={nameOf(readEntryActor(entry).id) ?? describeActorKind(readEntryActor(entry).type)}
              filters={filters}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type EntryRowProps = { entry: AuditEntry; actor: string; filters: AuditFilters };

const EntryRow = memo(function EntryRow({ entry, actor, filters }: EntryRowProps) {
  const isOpen = entry.id === filters.entry;
  return (
    <tr className={isOpen ? "on" : ""}>
      <td className={style.what}>
        <Link
          data-row
          className="stack"
          to="/settings/audit"
          search={{ ...filters, entry: entry.id }}
          aria-current={isOpen ? "true" : undefined}
        >
          <span className="t-500 cut">{auditActionName(entry.action)}</span>
          <span className="mono t-12 t-3 cut">{entry.action}</span>
        </Link>
      </td>
      <td className="wide">{actor}</td>
      <td className={`wide cut ${style.object}`}>
        {findSubjectName(entry) ?? <span className="mono t-12 t-3">{entry.subject_id || "–"}</span>}
      </td>
      <td className="wide">
        <StatusLabel tone={entry.success ? "ok" : "bad"}>{say(entry.success ? "done" : "refused")}</StatusLabel>
      </td>
      <td className="num t-2" title={formatExactTime(entry.created_at)}>
        {formatTimeOfDay(entry.created_at)}
      </td>
    </tr>
  );
});
