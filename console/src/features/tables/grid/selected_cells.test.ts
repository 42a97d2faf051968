import { expect, it } from "vitest";
import type { TableRow } from "../queries";
import { anchorCell, followSelectedRows, isSelectionLost } from "./selected_cells";

const listed = (...ids: string[]) => ({
  total: ids.length,
  rowAt: (index: number) => (ids[index] ? ({ id: ids[index] } as TableRow) : undefined),
  indexOf: (rowId: string) => ids.indexOf(rowId),
});
const select = (first: number, last: number, source: ReturnType<typeof listed>) => ({
  from: anchorCell({ row: first, column: 0 }, source),
  to: anchorCell({ row: last, column: 1 }, source),
});

it("goes with its rows when others come in above them", () => {
  const now = listed("new", "a", "b", "c");
  const range = followSelectedRows(select(0, 1, listed("a", "b", "c")), now);
  expect([range.from.row, range.to.row, isSelectionLost(range, now)]).toEqual([1, 2, false]);
  expect(followSelectedRows(range, now)).toBe(range);
});

it("belongs to a row as soon as it is loaded", () => {
  const range = followSelectedRows(select(0, 0, listed()), listed("a", "b"));
  expect(range.to.rowId).toBe("a");
  expect(followSelectedRows(range, listed("new", "a", "b")).to.row).toBe(1);
});

it("does not pass to the row that takes the place of a deleted one", () => {
  const now = listed("a", "c");
  const range = followSelectedRows(select(1, 1, listed("a", "b", "c")), now);
  expect([range.to.row, isSelectionLost(range, now)]).toEqual([1, true]);
  expect(followSelectedRows(range, now)).toBe(range);
  const shorter = followSelectedRows(select(2, 2, listed("a", "c", "b")), now);
  expect([shorter.to.row, isSelectionLost(shorter, now)]).toEqual([1, true]);
});

it("is left to the active cell when another row comes between or an end goes", () => {
  const between = followSelectedRows(select(0, 1, listed("a", "b")), listed("a", "new", "b"));
  expect([between.from.row, between.to.row]).toEqual([2, 2]);
  const gone = followSelectedRows(select(0, 1, listed("a", "b", "c")), listed("b", "c"));
  expect([gone.from.row, gone.to.row]).toEqual([0, 0]);
});

it("keeps a row whose block is not loaded any more", () => {
  const source = { ...listed("a", "b"), rowAt: () => undefined, indexOf: () => -1 };
  const range = followSelectedRows(select(1, 1, listed("a", "b")), source);
  expect([range.to.row, isSelectionLost(range, source)]).toEqual([1, false]);
});
