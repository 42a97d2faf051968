import Send from "icon:send";
import X from "icon:x";
import { SegmentedControl, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { tenantQuery, usePermissionCheck } from "../../api/queries";
import { AUDIT_AREAS, auditActionName } from "../../shared/audit_actions/actions";
import { createTranslator } from "../../shared/i18n/words";
import { FilterSelect } from "../../shared/list/filter_select";
import { SearchField } from "../../shared/list/search_field";
import style from "./audit.module.css";
import { hasAuditFilters } from "./audit_query";
import type { AuditFilters } from "./filters";
import { auditActorsQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/audit");
type ToolbarProps = { filters: AuditFilters; onChange: (change: Partial<AuditFilters>) => void };

/** Everything of an area first, then each of its actions. */
const ACTIONS = AUDIT_AREAS.map(({ area, actions }) => ({
  group: auditActionName(area),
  items: [
    { value: area, label: say("allOf", { area: auditActionName(area) }) },
    ...actions.map((value) => ({ value, label: auditActionName(value) })),
  ],
}));
const KNOWN_ACTIONS = new Set(AUDIT_AREAS.flatMap(({ area, actions }) => [area, ...actions]));

/** What the log is asked for: who, what, to which object, when, and whether only refusals count. */
export const AuditToolbar = ({ filters, onChange, onClear }: ToolbarProps & { onClear: () => void }) => (
  <div className="toolbar">
    <SearchField
      label={say("findObject")}
      value={filters.subject}
      onChange={(subject) => onChange({ subject: subject?.trim() || undefined })}
    />
    <FilterSelect
      className={style.action}
      label={say("what")}
      any={say("anyAction")}
      searchable
      nothingFoundMessage={say("noSuchAction")}
      choices={ACTIONS}
      value={filters.action && KNOWN_ACTIONS.has(filters.action) ? filters.action : undefined}
      onChange={(action) => onChange({ action })}
    />
    <ActorSelect filters={filters} onChange={onChange} />
    <DayField label={say("fromDay")} value={filters.from} onChange={(from) => onChange({ from })} />
    <DayField label={say("toDay")} value={filters.to} onChange={(to) => onChange({ to })} />
    <SegmentedControl
      aria-label={say("outcome")}
      data={[
        { value: "all", label: say("everything") },
        { value: "refused", label: say("refusals") },
      ]}
      value={filters.refused ? "refused" : "all"}
      onChange={(value) => onChange({ refused: value === "refused" || undefined })}
    />
    {filters.request && (
      <button type="button" className="chip set" onClick={() => onChange({ request: undefined })}>
        {say("ofOneRequest")} <X size={12} />
      </button>
    )}
    {filters.action && !KNOWN_ACTIONS.has(filters.action) && (
      <button type="button" className="chip set" onClick={() => onChange({ action: undefined })}>
        <span className="mono">{filters.action}</span> <X size={12} />
      </button>
    )}
    {hasAuditFilters(filters) && (
      <button type="button" className="chip" onClick={onClear}>
        {say("clear")}
      </button>
    )}
    <Link className="link t-13 row g6 push" to="/settings/audit/receivers">
      <Send size={14} />
      {say("receivers")}
    </Link>
  </div>
);

/** People by name; an id that is none of theirs, such as a program's, stands as it is. */
function ActorSelect({ filters, onChange }: ToolbarProps) {
  const { data: tenant } = useQuery(tenantQuery);
  const mayRead = usePermissionCheck()("admin:users");
  const { data: found } = useQuery(auditActorsQuery(tenant?.id, mayRead));
  const people = (found?.users ?? []).map(({ id, first_name, last_name, email }) => ({
    value: id,
    label: `${first_name} ${last_name}`.trim() || email,
  }));
  const { actor } = filters;
  const isKnown = !actor || people.some(({ value }) => value === actor);
  if (!people.length && !actor) return null;
  return (
    <FilterSelect
      className={style.actor}
      label={say("who")}
      any={say("anybody")}
      searchable
      nothingFoundMessage={say("nobody")}
      choices={isKnown || !actor ? people : [...people, { value: actor, label: actor }]}
      value={actor}
      onChange={(value) => onChange({ actor: value })}
    />
  );
}

type DayFieldProps = { label: string; value: string | undefined; onChange: (day: string | undefined) => void };

const DayField = ({ label, value, onChange }: DayFieldProps) => (
  <TextInput
    size="xs"
    type="date"
    className={style.day}
    aria-label={label}
    title={label}
    value={value ?? ""}
    onChange={(event) => onChange(event.currentTarget.value || undefined)}
  />
);
