export type CellPlace = { row: number; column: number };
/** A rectangle of cells: where it began, and the cell that moves. */
export type CellRange = { from: CellPlace; to: CellPlace };
type GridSize = { rows: number; columns: number; page: number };

const keepWithin = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));

/** Where a key leads in a grid; undefined for keys that lead nowhere. */
export function findKeyTarget(
  key: string,
  isFar: boolean,
  { row, column }: CellPlace,
  { rows, columns, page }: GridSize,
): CellPlace | undefined {
  const targets: Record<string, CellPlace> = {
    ArrowUp: { row: isFar ? 0 : row - 1, column },
    ArrowDown: { row: isFar ? rows - 1 : row + 1, column },
    ArrowLeft: { row, column: isFar ? 0 : column - 1 },
    ArrowRight: { row, column: isFar ? columns - 1 : column + 1 },
    Home: { row: isFar ? 0 : row, column: 0 },
    End: { row: isFar ? rows - 1 : row, column: columns - 1 },
    PageUp: { row: row - page, column },
    PageDown: { row: row + page, column },
  };
  const target = targets[key];
  return target && { row: keepWithin(target.row, rows), column: keepWithin(target.column, columns) };
}

/** The cell that Tab leads to after an edit: the next one, and from the last the first of the next row. */
export function findNextCell({ row, column }: CellPlace, step: 1 | -1, rows: number, columns: number): CellPlace {
  const at = row * columns + column + step;
  if (at < 0 || at >= rows * columns) return { row, column };
  return { row: Math.floor(at / columns), column: at % columns };
}

export const sortRangeEdges = ({ from, to }: CellRange) => ({
  top: Math.min(from.row, to.row),
  bottom: Math.max(from.row, to.row),
  left: Math.min(from.column, to.column),
  right: Math.max(from.column, to.column),
});
