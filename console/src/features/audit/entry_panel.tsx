import { auditActionName } from "../../shared/audit_actions/actions";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { JsonView } from "../../shared/marks/json_view";
import { Note } from "../../shared/patterns/note";
import { FactList } from "../../shared/patterns/sheet";
import { SidePanel } from "../../shared/patterns/side_panel";
import { deviceNameOf } from "../../shared/people/browser";
import { useKnownName, useNamesById } from "../../shared/people/names";
import { formatExactTime } from "../../shared/time";
import style from "./audit.module.css";
import { describeActorKind, describeMetadata, findSubjectName, listMentionedIds, readEntryActor } from "./entry_words";
import type { AuditFilters } from "./filters";
import type { AuditEntry } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/audit");

type EntryPanelProps = {
  entry: AuditEntry;
  onFilter: (change: Partial<AuditFilters>) => void;
  onClose: () => void;
};

/** One entry: what changed, who did it from where, and the way to what belongs to it. */
export function AuditEntryPanel({ entry, onFilter, onClose }: EntryPanelProps) {
  const { changes, facts } = describeMetadata(entry, useNamesById(listMentionedIds(entry)));
  return (
    <SidePanel
      label={auditActionName(entry.action)}
      title={auditActionName(entry.action)}
      subtitle={formatExactTime(entry.created_at)}
      onClose={onClose}
    >
      {!entry.success && (
        <Note tone="bad">{entry.reason ? say("refusedBecause", { reason: entry.reason }) : say("wasRefused")}</Note>
      )}
      {changes.length > 0 && (
        <FactList
          facts={changes.map(({ field, before, after }) => [
            field,
            <span key={field} className="row g6 wrap">
              <del className={style.before}>{before}</del>
              <span aria-hidden>→</span>
              <ins className={style.after}>{after}</ins>
            </span>,
          ])}
        />
      )}
      {facts.length > 0 && <FactList facts={facts} />}
      <EntryOrigin entry={entry} />
      <RelatedEntries entry={entry} onFilter={onFilter} />
      <details className="stack g8">
        <summary className="t-13 t-2">{say("wholeEntry", { number: entry.sequence })}</summary>
        <JsonView value={entry} max={320} />
      </details>
    </SidePanel>
  );
}

function EntryOrigin({ entry }: { entry: AuditEntry }) {
  const { type, id } = readEntryActor(entry);
  const name = useKnownName(id.includes("_") ? id : "");
  return (
    <FactList
      facts={[
        [say("who"), name ?? describeActorKind(type)],
        [say("object"), findSubjectName(entry) ?? (entry.subject_id || say("none"))],
        ...(entry.ip_address ? [[say("address"), entry.ip_address] as [string, string]] : []),
        ...(entry.user_agent ? [[say("device"), deviceNameOf(entry.user_agent)] as [string, string]] : []),
        [say("request"), <CopyableId key="request">{entry.correlation_id}</CopyableId>],
      ]}
    />
  );
}

/** The same log, asked for what this entry has in common with others. */
function RelatedEntries({ entry, onFilter }: Pick<EntryPanelProps, "entry" | "onFilter">) {
  const { id } = readEntryActor(entry);
  const ways: [label: string, change: Partial<AuditFilters>][] = [
    [say("sameAction"), { action: entry.action }],
    ...(id ? [[say("sameActor"), { actor: id }] as [string, Partial<AuditFilters>]] : []),
    ...(entry.subject_id
      ? [[say("sameObject"), { subject: entry.subject_id }] as [string, Partial<AuditFilters>]]
      : []),
    ...(entry.correlation_id
      ? [[say("sameRequest"), { request: entry.correlation_id }] as [string, Partial<AuditFilters>]]
      : []),
  ];
  return (
    <section className="stack g6" aria-label={say("related")}>
      <h3 className="t-sec">{say("related")}</h3>
      {ways.map(([label, change]) => (
        <button key={label} type="button" className={`t-13 ${style.same}`} onClick={() => onFilter(change)}>
          {label}
        </button>
      ))}
    </section>
  );
}
