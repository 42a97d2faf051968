import Plus from "icon:plus";
import Table2 from "icon:table-2";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { memo } from "react";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { usePageCommands } from "../../shared/frame/commands";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { ListCount } from "../../shared/list/list_count";
import { ListRows } from "../../shared/list/list_rows";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { RowTable } from "../../shared/list/row_table";
import { SearchField } from "../../shared/list/search_field";
import { EmptyState } from "../../shared/states/empty";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import type { TableFilters } from "./filters";
import { NewTableDialog } from "./new_table";
import { type DataTable, TABLES_PER_PAGE, tablesQuery } from "./queries";
import style from "./tables.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/tables");

/** The data tables of the organization. */
export default function Tables() {
  const filters = useSearch({ from: "/frame/tables" });
  const navigate = useNavigate();
  const mayWrite = usePermissionCheck()("data_tables:write");
  const list = useQuery(tablesQuery(filters));
  const changeFilters = (change: Partial<TableFilters>) =>
    void navigate({ to: "/tables", search: { ...filters, page: undefined, ...change }, replace: true });
  const openNew = () => changeFilters({ create: true });
  usePageCommands(mayWrite ? [{ label: say("add"), keys: "c", run: openNew }] : []);
  const rows = list.data?.data;
  const isEmpty = rows?.length === 0 && !filters.search;
  const addButton = mayWrite && (
    <Button leftSection={<Plus size={14} />} onClick={openNew}>
      {say("add")}
    </Button>
  );
  return (
    <>
      <PageBar title={say("title")} after={<ListCount total={list.data?.pagination.total} />}>
        {addButton}
      </PageBar>
      {!isEmpty && (
        <div className="toolbar">
          <SearchField label={say("find")} value={filters.search} onChange={(search) => changeFilters({ search })} />
        </div>
      )}
      <ListRows
        list={list}
        rows={rows}
        columns={[30, 240, 90, 96]}
        none={
          isEmpty ? (
            <EmptyState title={say("emptyTitle")} actions={addButton}>
              {say("empty")}
            </EmptyState>
          ) : (
            <NothingFound onClear={() => changeFilters({ search: undefined })}>{say("noMatch")}</NothingFound>
          )
        }
      >
        {(tables) => <TableList tables={tables} />}
      </ListRows>
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={TABLES_PER_PAGE}
        total={list.data?.pagination.total ?? 0}
        onChange={(page) => changeFilters({ page })}
      />
      {filters.create && mayWrite && <NewTableDialog onClose={() => changeFilters({ create: undefined })} />}
    </>
  );
}

const TableList = memo(function TableList({ tables }: { tables: DataTable[] }) {
  return (
    <RowTable title={say("title")} className={style.list}>
      <thead>
        <tr>
          <th>{say("name")}</th>
          <th className="num">{say("rows")}</th>
          <th className="wide num">{say("columns")}</th>
          <th className="wide num">{say("changed")}</th>
        </tr>
      </thead>
      <tbody>
        {tables.map((table) => (
          <tr key={table.id}>
            <td>
              <Link data-row className="row g12" to="/tables/$tableId" params={{ tableId: table.id }}>
                <span className="kind k-know">
                  <Table2 size={16} />
                </span>
                <span className="stack">
                  <span className={`t-500 cut ${style.name}`}>{table.name}</span>
                  <span className={`t-12 t-3 cut ${style.name}`}>{table.description || table.slug}</span>
                </span>
              </Link>
            </td>
            <td className="num">{table.row_count.toLocaleString(locale)}</td>
            <td className="wide num t-2">{table.columns.length.toLocaleString(locale)}</td>
            <td className="wide num t-2" title={formatExactTime(table.updated_at)}>
              {formatTimeSince(table.updated_at)}
            </td>
          </tr>
        ))}
      </tbody>
    </RowTable>
  );
});
