import type { ClipboardEvent } from "react";
import { asApiError } from "../../../api/errors";
import { locale } from "../../../shared/i18n/language";
import { createTranslator } from "../../../shared/i18n/words";
import type { DataTable, TableColumn, TableRow } from "../queries";
import en from "../words.en.json";
import { formatTabbedText, parseCellText, parseTabbedText, renderPlainText } from "./cell_text";
import { type CellRange, sortRangeEdges } from "./grid_moves";
import type { RowSource } from "./row_blocks";
import type { RowChange, useCellEdits } from "./use_cell_edits";

const say = createTranslator(en, "features/tables");

type ClipboardProps = {
  table: DataTable;
  mayWrite: boolean;
  edits: ReturnType<typeof useCellEdits>;
  source: RowSource;
  range: CellRange;
  /** Another row stands where the selected one was. */
  isLost: boolean;
};

/** How many rows that are not loaded yet are read to be copied or changed. */
const MAX_ROWS_READ = 2000;

/** What is done with all selected cells: copied, pasted over, and emptied. */
export function createCellClipboard({ table: { columns }, mayWrite, edits, source, range, isLost }: ClipboardProps) {
  const edges = sortRangeEdges(range);
  const selectedColumns = () => columns.slice(edges.left, edges.right + 1);
  const listLoadedRows = (first: number, last: number) => {
    const rows = Array.from({ length: last - first + 1 }, (_, at) => source.rowAt(first + at)).flatMap(
      (row) => row ?? [],
    );
    return rows.length === last - first + 1 ? rows : undefined;
  };
  /** All rows between two places, or none: what is not shown yet must not be left out unseen. */
  const readEveryRow = async (first: number, last: number) => {
    const loaded = listLoadedRows(first, last);
    if (loaded) return loaded;
    if (last - first >= MAX_ROWS_READ)
      return edits.tell({ text: say("tooManyRows", { most: MAX_ROWS_READ.toLocaleString(locale) }), isBad: true });
    try {
      const rows = await source.readRows(first, last);
      if (rows.length === last - first + 1) return rows;
      edits.tell({ text: say("rowsMissing"), isBad: true });
    } catch (error) {
      edits.tell({ text: `${say("rowsMissing")} ${asApiError(error).message}`, isBad: true });
    }
  };
  const clearCells = async () => {
    const rows = await readEveryRow(edges.top, edges.bottom);
    if (!rows) return;
    const values = Object.fromEntries(selectedColumns().map(({ name }) => [name, null]));
    const changes = rows.map((row) => ({ row, values }));
    await edits.writeCells(changes, say("clearedCells", { count: changes.length * selectedColumns().length }));
  };
  const formatRows = (rows: TableRow[]) =>
    formatTabbedText(rows.map((row) => selectedColumns().map(({ name, type }) => renderPlainText(row[name], type))));
  const copyOnceRead = async () => {
    const rows = await readEveryRow(edges.top, edges.bottom);
    if (!rows) return;
    try {
      await navigator.clipboard.writeText(formatRows(rows));
      edits.tell({ text: say("copiedRows", { count: rows.length }) });
    } catch {
      // Browsers may allow it only while the keys are pressed; the rows are there by now.
      edits.tell({ text: say("copyAgain") });
    }
  };
  const handleCopy = (event: ClipboardEvent) => {
    event.preventDefault();
    if (isLost) return edits.tell({ text: say("rowLeft"), isBad: true });
    const rows = listLoadedRows(edges.top, edges.bottom);
    if (rows) event.clipboardData.setData("text/plain", formatRows(rows));
    else void copyOnceRead();
  };
  const pasteCells = async (pasted: string[][]) => {
    const last = Math.min(source.total, edges.top + pasted.length) - 1;
    const rows = await readEveryRow(edges.top, last);
    if (!rows) return;
    const changes = matchPastedCells(pasted, columns.slice(edges.left), (at) => rows[at]);
    const leftOut = pasted.length - changes.length;
    const text = `${say("pastedRows", { count: changes.length })} ${leftOut ? say("pastedNot", { count: leftOut }) : ""}`;
    if (changes.length) await edits.writeCells(changes, text.trim());
  };
  const handlePaste = (event: ClipboardEvent) => {
    if (!mayWrite) return;
    event.preventDefault();
    if (isLost) return edits.tell({ text: say("rowLeft"), isBad: true });
    void pasteCells(parseTabbedText(event.clipboardData.getData("text/plain")));
  };
  return { clearCells: () => void clearCells(), handleCopy, handlePaste };
}

/** Which values go into which rows. What lies below the last row or beside the last column is left out. */
export function matchPastedCells(
  pasted: readonly (readonly string[])[],
  columns: readonly TableColumn[],
  rowAt: (index: number) => TableRow | undefined,
): RowChange[] {
  return pasted.flatMap((cells, at) => {
    const row = rowAt(at);
    const taken = columns.slice(0, cells.length);
    const values = Object.fromEntries(
      taken.map((column, place) => [column.name, parseCellText(cells[place] ?? "", column)]),
    );
    return row ? [{ row, values }] : [];
  });
}
