import Download from "icon:download";
import Plus from "icon:plus";
import Upload from "icon:upload";
import { Button, Kbd, Menu } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useState } from "react";
import { asApiError } from "../../../api/errors";
import { usePermissionCheck } from "../../../api/queries";
import { ConfirmDialog } from "../../../shared/confirm";
import { locale } from "../../../shared/i18n/language";
import { createTranslator } from "../../../shared/i18n/words";
import { NothingFound } from "../../../shared/list/nothing_found";
import { saveFile } from "../../../shared/save_file";
import { EmptyState } from "../../../shared/states/empty";
import { showToast } from "../../../shared/toast/toasts";
import type { GridView } from "../filters";
import {
  addTableRow,
  type DataTable,
  deleteColumn,
  type RowsAsked,
  readTableFile,
  type TableColumn,
  useTableChange,
} from "../queries";
import { TablePage } from "../table_page";
import en from "../words.en.json";
import style from "./grid.module.css";
import type { ColumnAction } from "./grid_head";
import { ConditionDialog, GridToolbar } from "./grid_toolbar";
import { listNeededColumns, NewRowDialog } from "./new_row";
import { isViewNarrowed, toRowFilterText } from "./row_filter";
import { TableGrid } from "./table_grid";
import { type GridNotice, useCellEdits } from "./use_cell_edits";

/** Rows are read far more often than columns are made. */
const ColumnDialog = lazy(() => import("./column_dialog").then((found) => ({ default: found.ColumnDialog })));
const say = createTranslator(en, "features/tables");
const NONE_CHOSEN: ReadonlySet<string> = new Set();
type Opened = { action: ColumnAction | "row"; column?: TableColumn };

/** The rows of one table, as a spreadsheet. */
export default function TableRowsPage() {
  const { tableId } = useParams({ from: "/frame/tables/$tableId" });
  const view = useSearch({ from: "/frame/tables/$tableId" });
  const mayWrite = usePermissionCheck()("data_tables:write");
  const [opened, setOpened] = useState<Opened>();
  return (
    <TablePage
      tableId={tableId}
      tab="rows"
      actions={(table) => (
        <RowActions table={table} view={view} mayWrite={mayWrite} onRow={() => setOpened({ action: "row" })} />
      )}
    >
      {(table) => (
        <RowsScreen key={table.id} table={table} view={view} mayWrite={mayWrite} opened={opened} onOpened={setOpened} />
      )}
    </TablePage>
  );
}

const askRows = (table: DataTable, view: GridView): RowsAsked => ({
  search: view.search,
  sort: view.sort,
  filter: toRowFilterText(view.where, new Set(table.columns.map(({ name }) => name))),
});

type ActionsProps = { table: DataTable; view: GridView; mayWrite: boolean; onRow: () => void };

function RowActions({ table, view, mayWrite, onRow }: ActionsProps) {
  const tellRefusal = (error: Error) => showToast(asApiError(error).message);
  const add = useTableChange(() => addTableRow(table.id, {}));
  const download = useMutation({
    mutationFn: async (format: "csv" | "json" | "xlsx") =>
      saveFile(await readTableFile(table.id, format, askRows(table, view)), `${table.slug}.${format}`),
    onError: tellRefusal,
  });
  return (
    <>
      {mayWrite && (
        <Button
          variant="default"
          leftSection={<Upload size={14} />}
          renderRoot={(props) => <Link {...props} to="/tables/$tableId/import" params={{ tableId: table.id }} />}
        >
          {say("import")}
        </Button>
      )}
      <Menu withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button variant="default" className="wide" leftSection={<Download size={14} />} loading={download.isPending}>
            {say("export")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(["csv", "xlsx", "json"] as const).map((format) => (
            <Menu.Item key={format} onClick={() => download.mutate(format)}>
              {say(`export_${format}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {mayWrite && (
        <Button
          leftSection={<Plus size={14} />}
          loading={add.isPending}
          onClick={() => (listNeededColumns(table).length ? onRow() : add.mutate(undefined, { onError: tellRefusal }))}
        >
          {say("row")}
        </Button>
      )}
    </>
  );
}

type ScreenProps = {
  table: DataTable;
  view: GridView;
  mayWrite: boolean;
  opened: Opened | undefined;
  onOpened: (opened: Opened | undefined) => void;
};

function RowsScreen({ table, view, mayWrite, opened, onOpened }: ScreenProps) {
  const navigate = useNavigate();
  const edits = useCellEdits(table);
  const [choice, setChoice] = useState({ shown: "", ids: NONE_CHOSEN });
  const [matching, setMatching] = useState({ total: table.row_count, isExact: true });
  const asked = useMemo(() => askRows(table, view), [table, view]);
  // Rows that a search or a filter hides are not deleted with those that are seen.
  const shown = JSON.stringify([asked.search, asked.filter]);
  const chosen = choice.shown === shown ? choice.ids : NONE_CHOSEN;
  const setChosen = (ids: ReadonlySet<string>) => setChoice({ shown, ids });
  const changeView = (changes: Partial<GridView>) => {
    const next = { ...view, ...changes };
    const search = { ...next, where: next.where?.length ? next.where : undefined };
    void navigate({ to: "/tables/$tableId", params: { tableId: table.id }, search, replace: true });
  };
  const actOnColumn = (action: ColumnAction, column: TableColumn) => {
    if (action === "sortUp") changeView({ sort: column.name });
    else if (action === "sortDown") changeView({ sort: `-${column.name}` });
    else onOpened({ action, column });
  };
  const close = () => onOpened(undefined);
  const removeChosen = async () => {
    const left = await edits.removeRows([...chosen]);
    setChosen(new Set(left));
  };
  return (
    <>
      <GridToolbar
        columns={table.columns}
        view={view}
        onChange={changeView}
        onAddColumn={mayWrite ? () => onOpened({ action: "insert" }) : undefined}
      />
      <TableGrid
        // Other rows begin at the top, with nothing selected or edited.
        key={JSON.stringify(asked)}
        table={table}
        asked={asked}
        mayWrite={mayWrite}
        edits={edits}
        chosen={chosen}
        onChosen={setChosen}
        onTotal={(total, isExact) => setMatching({ total, isExact })}
        onColumn={actOnColumn}
        none={<NoRows table={table} view={view} onClear={() => changeView({ search: undefined, where: undefined })} />}
      />
      <GridFoot
        table={table}
        matching={matching}
        chosen={chosen.size}
        isRemoving={edits.isRemoving}
        notice={edits.notice}
        onUndo={mayWrite ? () => void edits.undo() : undefined}
        onDelete={mayWrite ? () => void removeChosen() : undefined}
      />
      <Suspense fallback={null}>
        <ColumnDialogs table={table} view={view} opened={opened} onView={changeView} onClose={close} />
      </Suspense>
    </>
  );
}

type DialogsProps = Pick<ScreenProps, "table" | "view" | "opened"> & {
  onView: (changes: Partial<GridView>) => void;
  onClose: () => void;
};

function ColumnDialogs({ table, view, opened, onView, onClose }: DialogsProps) {
  const remove = useTableChange(deleteColumn);
  if (opened?.action === "row")
    return <NewRowDialog table={table} columns={listNeededColumns(table)} onClose={onClose} />;
  if (opened?.action === "insert")
    return <ColumnDialog table={table} position={opened.column && opened.column.position + 1} onClose={onClose} />;
  if (!opened?.column) return null;
  const { action, column } = opened;
  if (action === "change") return <ColumnDialog table={table} column={column} onClose={onClose} />;
  if (action === "filter")
    return <ConditionDialog column={column} columns={table.columns} view={view} onChange={onView} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={say("deleteColumnTitle", { name: column.name })}
      action={say("delete")}
      error={remove.error}
      isBusy={remove.isPending}
      onClose={onClose}
      onConfirm={() => remove.mutate({ id: table.id, columnId: column.id }, { onSuccess: onClose })}
    >
      <p>{say("deleteColumnText", { count: table.row_count })}</p>
    </ConfirmDialog>
  );
}

type NoRowsProps = { table: DataTable; view: GridView; onClear: () => void };

const NoRows = ({ table, view, onClear }: NoRowsProps) =>
  isViewNarrowed(view) ? (
    <NothingFound onClear={onClear}>{say("noMatchingRows", { count: table.row_count })}</NothingFound>
  ) : (
    <EmptyState title={say("noRowsTitle")}>{say("noRows")}</EmptyState>
  );

type FootProps = {
  table: DataTable;
  matching: { total: number; isExact: boolean };
  chosen: number;
  isRemoving: boolean;
  notice: GridNotice | undefined;
  onUndo?: () => void;
  onDelete?: () => void;
};

/** How many rows there are, what was just done and its way back, and the keys. */
function GridFoot({ table, matching, chosen, isRemoving, notice, onUndo, onDelete }: FootProps) {
  const total = `${matching.total.toLocaleString(locale)}${matching.isExact ? "" : "+"}`;
  return (
    <div className={style.foot}>
      <span className="num">
        {matching.total === table.row_count
          ? say("rowCount", { count: table.row_count })
          : say("matchCount", { total, count: table.row_count.toLocaleString(locale) })}
      </span>
      {chosen > 0 && onDelete && (
        <Button size="compact-xs" variant="default" color="red" loading={isRemoving} onClick={onDelete}>
          {say("deleteChosen", { count: chosen })}
        </Button>
      )}
      <span className="row g8" role="status">
        {notice && <span className={notice.isBad ? "t-bad" : "t-2"}>{notice.text}</span>}
        {notice?.canUndo && onUndo && (
          <Button size="compact-xs" variant="default" onClick={onUndo}>
            {say("undo")}
          </Button>
        )}
      </span>
      <span className="push row g8 wide" aria-hidden>
        <Kbd>↵</Kbd> {say("keyEdit")} <Kbd>{say("keyTab")}</Kbd> {say("keyNext")} <Kbd>{say("keysCopy")}</Kbd>{" "}
        {say("keyCopy")} <Kbd>{say("keysPaste")}</Kbd> {say("keyPaste")} <Kbd>{say("keysUndo")}</Kbd> {say("undo")}
      </span>
    </div>
  );
}
