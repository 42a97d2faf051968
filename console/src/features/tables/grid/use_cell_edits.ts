import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { asApiError } from "../../../api/errors";
import { createTranslator } from "../../../shared/i18n/words";
import { fieldSentence } from "../../../shared/use_fields";
import {
  type CellValue,
  changeTableRow,
  changeTableRows,
  type DataTable,
  deleteTableRows,
  ROWS_PER_CHANGE,
  restoreDeletedRows,
  type TableColumn,
  type TableRow,
} from "../queries";
import en from "../words.en.json";
import { replaceLoadedRows } from "./row_blocks";

const say = createTranslator(en, "features/tables");
const UNDO_SHOWN_MS = 60_000;
const MAX_UNDONE = 50;

type UndoStep = { text: string; run: () => Promise<unknown> };
export type GridNotice = { text: string; isBad?: boolean; canUndo?: boolean };
export type RowChange = { row: TableRow; values: Record<string, CellValue> };

/** What was done, the last at the end. A step that could not be taken back stays, to be tried again. */
function useUndoSteps() {
  const steps = useRef<UndoStep[]>([]);
  const isBusy = useRef(false);
  const remember = (step: UndoStep) => {
    steps.current = [...steps.current.slice(1 - MAX_UNDONE), step];
  };
  const takeBack = async (): Promise<{ text: string; error?: unknown } | undefined> => {
    const step = steps.current.at(-1);
    // A second press would take back the step before while this one goes on.
    if (!step || isBusy.current) return;
    isBusy.current = true;
    try {
      await step.run();
      steps.current = steps.current.filter((one) => one !== step);
      return { text: step.text };
    } catch (error) {
      return { text: step.text, error };
    } finally {
      isBusy.current = false;
    }
  };
  return { remember, takeBack };
}

/** Change cells and delete rows, with the way back. What was done is said for a minute. */
export function useCellEdits(table: DataTable) {
  const client = useQueryClient();
  const { remember, takeBack } = useUndoSteps();
  const [isRemoving, setRemoving] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [notice, setNotice] = useState<GridNotice>();
  const tell = (next: GridNotice | undefined) => {
    clearTimeout(timer.current);
    setNotice(next);
    if (next) timer.current = setTimeout(() => setNotice(undefined), UNDO_SHOWN_MS);
  };
  const refreshSums = () => void client.invalidateQueries({ queryKey: ["tables", "sums", table.id] });
  const refreshAll = () =>
    Promise.all(
      ["rows", "one", "sums"].map((part) => client.invalidateQueries({ queryKey: ["tables", part, table.id] })),
    );
  const show = (rows: TableRow[]) => {
    replaceLoadedRows(client, table.id, rows);
    refreshSums();
  };
  const rememberChange = (changes: readonly RowChange[]) =>
    remember({
      text: say("undone"),
      run: async () => show(await changeTableRows(table.id, changes.map(revertChange))),
    });
  return {
    notice,
    tell,
    refreshAll,
    /** Write one cell; the answer is what is wrong with it, if anything is. */
    writeCell: async (row: TableRow, column: TableColumn, value: CellValue): Promise<string | undefined> => {
      try {
        const changed = await changeTableRow(table.id, row.id, { [column.name]: value });
        rememberChange([{ row, values: { [column.name]: value } }]);
        show([changed]);
        return undefined;
      } catch (error) {
        return describeCellProblem(error, column);
      }
    },
    /** Write many cells, all with one way back; if the server refuses a part of them, what was written before it stays. */
    writeCells: async (changes: readonly RowChange[], text: string) => {
      const { written, error } = await writeInParts(table.id, changes, show);
      if (written) rememberChange(changes.slice(0, written));
      if (!error) return tell({ text, canUndo: true });
      tell({ text: describeRefusal(error, table.columns, written), isBad: true, canUndo: written > 0 });
      await refreshAll();
    },
    isRemoving,
    /** Delete rows; the answer is which of them are still there, because the server refused a part. */
    removeRows: async (rowIds: string[]): Promise<string[]> => {
      setRemoving(true);
      const { deletions, count, left, error } = await deleteTableRows(table.id, rowIds);
      if (deletions.length)
        remember({ text: say("restored", { count }), run: () => restoreDeletedRows(table.id, deletions) });
      const text = count || !error ? say("deletedRows", { count }) : "";
      tell({
        text: error ? `${text} ${asApiError(error).message}`.trim() : text,
        isBad: Boolean(error),
        canUndo: deletions.length > 0,
      });
      await refreshAll().finally(() => setRemoving(false));
      return left;
    },
    undo: async () => {
      const outcome = await takeBack();
      if (!outcome) return;
      const { text, error } = outcome;
      tell(error ? { text: asApiError(error).message, isBad: true, canUndo: true } : { text });
      await refreshAll();
    },
  };
}

const applyChange = ({ row, values }: RowChange) => ({ ...values, id: row.id });
const revertChange = ({ row, values }: RowChange) => ({
  ...Object.fromEntries(Object.keys(values).map((name) => [name, row[name] ?? null])),
  id: row.id,
});

/** Write as much as one request takes, until all is written or the server refuses a part. */
async function writeInParts(tableId: string, changes: readonly RowChange[], show: (rows: TableRow[]) => void) {
  let written = 0;
  try {
    while (written < changes.length) {
      const part = changes.slice(written, written + ROWS_PER_CHANGE);
      show(await changeTableRows(tableId, part.map(applyChange)));
      written += part.length;
    }
    return { written };
  } catch (error) {
    return { written, error };
  }
}

function describeCellProblem(error: unknown, column: TableColumn): string {
  const refusal = asApiError(error);
  if (refusal.status === 404) return say("rowDeleted");
  const said = refusal.details[column.name];
  return typeof said === "string" ? fieldSentence(said) : refusal.message;
}

/** What was refused, and how many rows were written `before` it. "rows.3.age" is age in the fourth row of a part. */
function describeRefusal(error: unknown, columns: readonly TableColumn[], before = 0): string {
  const refusal = asApiError(error);
  const [path, problem] = Object.entries(refusal.details)[0] ?? [];
  const [, at, name = ""] = /^rows\.(\d+)\.(.+)$/.exec(path ?? "") ?? [];
  const isOfCell = columns.some((column) => column.name === name) && typeof problem === "string";
  const text = isOfCell
    ? say("pasteProblem", { row: before + Number(at) + 1, column: name, problem: fieldSentence(problem) })
    : refusal.message;
  return `${say(before ? "pastedBefore" : "pastedNothing", { count: before })} ${text}`;
}
