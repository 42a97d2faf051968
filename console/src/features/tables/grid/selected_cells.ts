import type { CellPlace, CellRange } from "./grid_moves";
import type { RowSource } from "./row_blocks";

/** A cell that is selected: it belongs to its row, which moves when others come and go above it. */
type AnchoredCell = CellPlace & { rowId?: string };
export type AnchoredRange = { from: AnchoredCell; to: AnchoredCell };
type LoadedRows = Pick<RowSource, "rowAt" | "indexOf" | "total">;

export const FIRST_CELL: AnchoredRange = { from: { row: 0, column: 0 }, to: { row: 0, column: 0 } };

export const anchorCell = ({ row, column }: CellPlace, source: LoadedRows): AnchoredCell => ({
  row,
  column,
  rowId: source.rowAt(row)?.id,
});

function followRow(cell: AnchoredCell, source: LoadedRows): AnchoredCell {
  const id = source.rowAt(cell.row)?.id;
  if (id === cell.rowId) return cell;
  if (!cell.rowId) return { ...cell, rowId: id };
  const found = source.indexOf(cell.rowId);
  const row = found >= 0 ? found : Math.min(cell.row, Math.max(0, source.total - 1));
  return row === cell.row ? cell : { ...cell, row };
}

/** Whether another row stands where the selected one was: what is done next must not reach it. */
export function isSelectionLost({ to }: AnchoredRange, source: LoadedRows): boolean {
  const row = source.rowAt(to.row);
  return Boolean(to.rowId && row && row.id !== to.rowId);
}

/** The selection where its rows are now. One whose rows do not stand together any more is left to the active cell. */
export function followSelectedRows(range: AnchoredRange, source: LoadedRows): AnchoredRange {
  const to = followRow(range.to, source);
  const from = range.from === range.to ? to : followRow(range.from, source);
  const isTorn = from.row - to.row !== range.from.row - range.to.row || isSelectionLost({ from, to: from }, source);
  if (isTorn && from !== to) return { from: to, to };
  return from === range.from && to === range.to ? range : { from, to };
}

export const isSeveralCells = ({ from, to }: CellRange) => from.row !== to.row || from.column !== to.column;
