import { type ClipboardEvent, type KeyboardEvent, type MouseEvent, type RefObject, useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import en from "../words.en.json";
import { createCellClipboard } from "./cell_clipboard";
import { type CellPlace, findKeyTarget } from "./grid_moves";
import type { TableGridProps } from "./grid_props";
import { ROW_HEIGHT } from "./grid_row";
import type { RowSource } from "./row_blocks";
import { anchorCell, FIRST_CELL, followSelectedRows, isSelectionLost, isSeveralCells } from "./selected_cells";
import { useCellEditor } from "./use_cell_editor";

const say = createTranslator(en, "features/tables");
const HEAD = 35;
const FOOT = 33;

type InputProps = Pick<TableGridProps, "table" | "mayWrite" | "edits" | "chosen" | "onChosen"> & {
  source: RowSource;
  page: number;
  box: RefObject<HTMLDivElement | null>;
};

/** Scroll just so far that a cell stands between the head and the foot, and beside the numbers. */
function revealCell(box: HTMLDivElement | null, { row, column }: CellPlace) {
  if (!box) return;
  const top = row * ROW_HEIGHT;
  const shown = box.clientHeight - HEAD - FOOT - ROW_HEIGHT;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top > box.scrollTop + shown) box.scrollTop = top - shown;
  requestAnimationFrame(() =>
    document.getElementById(`cell-${row}-${column}`)?.scrollIntoView({ block: "nearest", inline: "nearest" }),
  );
}

/** What keys, clicks and the clipboard do in a grid. */
export function useGridInput({ table, mayWrite, edits, chosen, onChosen, source, page, box }: InputProps) {
  const [selected, setSelected] = useState(FIRST_CELL);
  const range = followSelectedRows(selected, source);
  if (range !== selected) setSelected(range);
  const isLost = isSelectionLost(range, source);
  const columns = table.columns;
  const active = range.to;
  const activeColumn = columns[active.column];
  const activeRow = isLost ? undefined : source.rowAt(active.row);
  const moveTo = (cell: CellPlace, isExtending = false) => {
    const to = anchorCell(cell, source);
    setSelected(({ from }) => ({ from: isExtending ? from : to, to }));
    revealCell(box.current, to);
  };
  const { edit, openEditor, editor } = useCellEditor({
    ...{ active, activeRow, columns, rowCount: source.total, isLost, mayWrite, edits, box, moveTo },
  });
  const clipboard = createCellClipboard({ table, mayWrite: mayWrite && !edit, edits, source, range, isLost });
  const actOnSpace = () => {
    if (activeRow && activeColumn?.type === "boolean" && mayWrite)
      void edits.writeCell(activeRow, activeColumn, !activeRow[activeColumn.name]);
    else openEditor();
  };
  const chooseActiveRow = () => {
    if (!activeRow || !mayWrite) return;
    const next = new Set(chosen);
    if (!next.delete(activeRow.id)) next.add(activeRow.id);
    onChosen(next);
  };
  const actions: Record<string, () => void> = {
    Enter: openEditor,
    F2: openEditor,
    " ": actOnSpace,
    "shift ": chooseActiveRow,
    Backspace: clipboard.clearCells,
    Delete: clipboard.clearCells,
    "mod+z": () => void edits.undo(),
  };
  const handleKey = (event: KeyboardEvent) => {
    if (edit || event.target !== event.currentTarget) return;
    const isMod = event.ctrlKey || event.metaKey;
    const target = findKeyTarget(event.key, isMod, active, { rows: source.total, columns: columns.length, page });
    const name = `${isMod ? "mod+" : event.shiftKey && event.key === " " ? "shift" : ""}${event.key}`;
    const needsWrite = name === "Backspace" || name === "Delete" || name === "mod+z";
    const action = needsWrite && !mayWrite ? undefined : actions[name];
    if (!target && !action) return;
    event.preventDefault();
    event.stopPropagation();
    if (target) moveTo(target, event.shiftKey);
    else if (isLost && name !== "mod+z") edits.tell({ text: say("rowLeft"), isBad: true });
    else action?.();
  };
  const pointAt = (event: MouseEvent) =>
    (event.target as HTMLElement).closest<HTMLElement>("[data-cell]")?.dataset.cell?.split(" ").map(Number);
  return {
    active,
    range,
    isRange: isSeveralCells(range),
    edit,
    editor,
    handlers: {
      onKeyDown: handleKey,
      onCopy: (event: ClipboardEvent) => edit || clipboard.handleCopy(event),
      onPaste: clipboard.handlePaste,
      onMouseDown: (event: MouseEvent) => {
        const [row, column] = pointAt(event) ?? [];
        if (row === undefined || column === undefined || edit) return;
        const to = anchorCell({ row, column }, source);
        setSelected(({ from }) => ({ from: event.shiftKey ? from : to, to }));
      },
      onDoubleClick: (event: MouseEvent) => {
        if (pointAt(event) && !edit) openEditor();
      },
    },
  };
}
