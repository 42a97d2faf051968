import Plus from "icon:plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { memo } from "react";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { usePageCommands } from "../../shared/frame/commands";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { FilterSelect } from "../../shared/list/filter_select";
import { ListCount } from "../../shared/list/list_count";
import { ListRows } from "../../shared/list/list_rows";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { RowTable } from "../../shared/list/row_table";
import { SearchField } from "../../shared/list/search_field";
import { StatusPill } from "../../shared/marks/status";
import { EmptyState } from "../../shared/states/empty";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import { CredentialState } from "./credential_state";
import style from "./credentials.module.css";
import { CREDENTIAL_TYPES, type CredentialFilters } from "./filters";
import { CREDENTIALS_PER_PAGE, type CredentialSummary, credentialsQuery, hasCredentialFilters } from "./queries";
import { TypeIcon } from "./type_icon";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");

/** The secrets of the organization: keys, passwords and tokens that tools and providers use. */
export default function Credentials() {
  const filters = useSearch({ from: "/frame/credentials" });
  const navigate = useNavigate();
  const mayWrite = usePermissionCheck()("credentials:write");
  const list = useQuery(credentialsQuery(filters));
  const changeFilters = (change: Partial<CredentialFilters>) =>
    void navigate({ to: "/credentials", search: { ...filters, page: undefined, ...change }, replace: true });
  const openNew = () => void navigate({ to: "/credentials/new" });
  usePageCommands(mayWrite ? [{ label: say("add"), keys: "c", run: openNew }] : []);
  const rows = list.data?.data;
  const total = list.data?.pagination.total ?? 0;
  const isEmpty = rows?.length === 0 && !hasCredentialFilters(filters);
  const addButton = mayWrite && (
    <Button leftSection={<Plus size={14} />} renderRoot={(props) => <Link {...props} to="/credentials/new" />}>
      {say("add")}
    </Button>
  );
  return (
    <>
      <PageBar title={say("title")} after={<ListCount total={list.data?.pagination.total} />}>
        {addButton}
      </PageBar>
      {!isEmpty && <Toolbar filters={filters} onChange={changeFilters} />}
      <ListRows
        list={list}
        rows={rows}
        columns={[30, 240, 140, 96]}
        none={
          isEmpty ? (
            <EmptyState title={say("emptyTitle")} actions={addButton}>
              {say("empty")}
            </EmptyState>
          ) : (
            <NothingFound onClear={() => changeFilters({ search: undefined, type: undefined })}>
              {say("noMatch")}
            </NothingFound>
          )
        }
      >
        {(rows) => <CredentialTable rows={rows} />}
      </ListRows>
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={CREDENTIALS_PER_PAGE}
        total={total}
        onChange={(page) => changeFilters({ page })}
      />
    </>
  );
}

type ToolbarProps = { filters: CredentialFilters; onChange: (change: Partial<CredentialFilters>) => void };

const Toolbar = ({ filters, onChange }: ToolbarProps) => (
  <div className="toolbar">
    <SearchField label={say("find")} value={filters.search} onChange={(search) => onChange({ search })} />
    <FilterSelect
      label={say("type")}
      any={say("anyType")}
      choices={CREDENTIAL_TYPES.map((value) => ({ value, label: say(value) }))}
      value={filters.type}
      onChange={(value) => onChange({ type: CREDENTIAL_TYPES.find((name) => name === value) })}
    />
  </div>
);

const CredentialTable = memo(function CredentialTable({ rows }: { rows: CredentialSummary[] }) {
  return (
    <RowTable title={say("title")} className={style.table}>
      <thead>
        <tr>
          <th>{say("name")}</th>
          <th>{say("state")}</th>
          <th className="wide">{say("destinations")}</th>
          <th className="wide num">{say("lastUsedColumn")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((credential) => (
          <CredentialRow key={credential.id} credential={credential} />
        ))}
      </tbody>
    </RowTable>
  );
});

const CredentialRow = memo(function CredentialRow({ credential }: { credential: CredentialSummary }) {
  const [firstDestination, ...others] = credential.destinations;
  return (
    <tr>
      <td>
        <Link data-row className="row g12" to="/credentials/$credentialId" params={{ credentialId: credential.id }}>
          <TypeIcon type={credential.type} />
          <span className="stack">
            <span className="row g6">
              <span className="t-500 cut">{credential.name}</span>
              <StatusPill>{say(credential.type)}</StatusPill>
            </span>
            {credential.description && <span className="t-12 t-3 cut">{credential.description}</span>}
          </span>
        </Link>
      </td>
      <td>
        <CredentialState credential={credential} />
      </td>
      <td className="wide mono t-12 t-2" title={credential.destinations.join("\n")}>
        {firstDestination ?? "–"}
        {others.length > 0 && ` +${others.length.toLocaleString(locale)}`}
      </td>
      <td
        className="wide num t-2"
        title={credential.last_used_at ? formatExactTime(credential.last_used_at) : undefined}
      >
        {credential.last_used_at ? formatTimeSince(credential.last_used_at) : say("neverUsed")}
      </td>
    </tr>
  );
});
