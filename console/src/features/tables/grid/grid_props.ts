import type { ReactNode } from "react";
import type { DataTable, RowsAsked, TableColumn } from "../queries";
import type { ColumnAction } from "./grid_head";
import type { useCellEdits } from "./use_cell_edits";

export type TableGridProps = {
  table: DataTable;
  asked: RowsAsked;
  mayWrite: boolean;
  edits: ReturnType<typeof useCellEdits>;
  chosen: ReadonlySet<string>;
  onChosen: (chosen: ReadonlySet<string>) => void;
  onTotal: (total: number, isExact: boolean) => void;
  onColumn: (action: ColumnAction, column: TableColumn) => void;
  none: ReactNode;
};
