import { memo, type ReactNode } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import { RowCheckbox } from "../../../shared/marks/row_checkbox";
import { isNumericColumn } from "../column_type";
import type { TableColumn, TableRow } from "../queries";
import en from "../words.en.json";
import { CellValueView } from "./cell_view";
import style from "./grid.module.css";

const say = createTranslator(en, "features/tables");
export const ROW_HEIGHT = 34;

type GridRowProps = {
  index: number;
  row: TableRow | undefined;
  columns: readonly TableColumn[];
  /** Column of the cell that the keys act on; -1 if it is in another row. */
  active: number;
  /** First and last column of what is selected in this row. */
  left: number;
  right: number;
  isChosen: boolean;
  hasProblem: boolean;
  /** The field that is open in the active cell. */
  editor?: ReactNode;
  onChoose?: (row: TableRow, isOn: boolean) => void;
};

/** One row. Only what changes is drawn again, which is what keeps 50,000 rows smooth. */
export const TableGridRow = memo(function TableGridRow(props: GridRowProps) {
  const { index, row, columns, active, left, right, isChosen, hasProblem, editor, onChoose } = props;
  return (
    <div
      className={style.row}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      data-editing={editor ? true : undefined}
      style={{ transform: `translateY(${index * ROW_HEIGHT}px)` }}
    >
      <div className={`${style.cell} ${style.first} num`} role="rowheader" aria-colindex={1}>
        <span className={onChoose ? style.number : undefined}>{index + 1}</span>
        {onChoose && row && (
          <RowCheckbox
            label={say("chooseRow", { row: index + 1 })}
            isOn={isChosen}
            onChange={(isOn) => onChoose(row, isOn)}
          />
        )}
      </div>
      {columns.map((column, at) => (
        <div
          key={column.id}
          id={`cell-${index}-${at}`}
          role="gridcell"
          aria-colindex={at + 2}
          data-cell={`${index} ${at}`}
          data-on={at === active || undefined}
          data-in={(at >= left && at <= right) || undefined}
          className={cellClass(column, at === active && Boolean(editor), hasProblem)}
        >
          {at === active && editor ? editor : row ? <CellValueView column={column} value={row[column.name]} /> : null}
        </div>
      ))}
    </div>
  );
});

function cellClass(column: TableColumn, isEdited: boolean, hasProblem: boolean): string {
  const names = [style.cell];
  if (isNumericColumn(column.type)) names.push(style.end);
  if (isEdited) names.push(style.edit);
  if (isEdited && hasProblem) names.push(style.wrong);
  return names.join(" ");
}
