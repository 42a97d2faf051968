import { type RefObject, useRef, useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import type { TableColumn, TableRow } from "../queries";
import en from "../words.en.json";
import type { CellEdit } from "./cell_editor";
import { parseCellText, renderPlainText } from "./cell_text";
import { type CellPlace, findNextCell } from "./grid_moves";
import type { useCellEdits } from "./use_cell_edits";

const say = createTranslator(en, "features/tables");

type EditorProps = {
  active: CellPlace;
  activeRow: TableRow | undefined;
  columns: readonly TableColumn[];
  rowCount: number;
  /** Another row stands where the one that is edited was. */
  isLost: boolean;
  mayWrite: boolean;
  edits: ReturnType<typeof useCellEdits>;
  box: RefObject<HTMLDivElement | null>;
  moveTo: (to: CellPlace) => void;
};

/** The field that is open in a cell: what is typed, and where it leads when it is done. */
export function useCellEditor(props: EditorProps) {
  const { active, activeRow, columns, rowCount, isLost, mayWrite, edits, box, moveTo } = props;
  const [edit, setEdit] = useState<CellEdit>();
  const closing = useRef(false);
  const latest = useRef(active);
  latest.current = active;
  const openEditor = () => {
    const column = columns[active.column];
    if (!mayWrite || !activeRow || !column) return;
    closing.current = false;
    moveTo(active);
    const before = renderPlainText(activeRow[column.name], column.type);
    setEdit({ row: activeRow, column, before, text: before });
  };
  const closeEditor = () => {
    closing.current = true;
    setEdit(undefined);
    box.current?.focus({ preventScroll: true });
  };
  const finishEdit = async (leadsTo: "down" | "next" | "previous" | "stay") => {
    // The field loses the focus when it goes: that is no second answer.
    if (!edit || closing.current) return;
    if (leadsTo === "stay" && edit.problem) return;
    closing.current = true;
    // The row that was opened, wherever it stands by now, and its column, whatever its name is by now.
    const column = columns.find(({ id }) => id === edit.column.id) ?? edit.column;
    const value = parseCellText(edit.text, column);
    const problem = edit.before === edit.text ? undefined : await edits.writeCell(edit.row, column, value);
    closing.current = false;
    if (problem) {
      setEdit({ ...edit, problem });
      return;
    }
    if (leadsTo === "stay") {
      setEdit(undefined);
      return;
    }
    closeEditor();
    const { row, column: at } = latest.current;
    if (leadsTo === "down") moveTo({ row: Math.min(rowCount - 1, row + 1), column: at });
    else moveTo(findNextCell(latest.current, leadsTo === "next" ? 1 : -1, rowCount, columns.length));
  };
  return {
    edit: edit && isLost && !edit.problem ? { ...edit, hint: say("rowLeft") } : edit,
    openEditor,
    editor: {
      onText: (text: string) => setEdit((now) => now && { ...now, text, problem: undefined }),
      onDone: (leadsTo: "down" | "next" | "previous" | "stay") => void finishEdit(leadsTo),
      onCancel: closeEditor,
    },
  };
}
