import ArrowDown from "icon:arrow-down-wide-narrow";
import ArrowUp from "icon:arrow-up-narrow-wide";
import Filter from "icon:list-filter";
import Pencil from "icon:pencil";
import Plus from "icon:plus";
import Trash from "icon:trash-2";
import { Menu } from "@mantine/core";
import { memo } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import { RowCheckbox } from "../../../shared/marks/row_checkbox";
import { ColumnTypeIcon, columnTypeName, isSortableColumn } from "../column_type";
import type { TableColumn } from "../queries";
import en from "../words.en.json";
import style from "./grid.module.css";

const say = createTranslator(en, "features/tables");
export type ColumnAction = "change" | "delete" | "filter" | "insert" | "sortUp" | "sortDown";

type GridHeadProps = {
  columns: readonly TableColumn[];
  sort: string | undefined;
  mayWrite: boolean;
  /** Whether none, some or all of the loaded rows are chosen; undefined where none can be. */
  chosen?: { isOn: boolean; isPartly: boolean; onChange: (isOn: boolean) => void };
  onAction: (action: ColumnAction, column: TableColumn) => void;
};

/** The names of the columns; each opens what can be done with it. */
export const GridColumnHeads = memo(function GridColumnHeads({
  columns,
  sort,
  mayWrite,
  chosen,
  onAction,
}: GridHeadProps) {
  return (
    <div className={style.head} role="row" aria-rowindex={1}>
      <div className={`${style.th} ${style.first}`} role="columnheader" aria-colindex={1} aria-label={say("choose")}>
        {chosen && <RowCheckbox label={say("chooseAll")} {...chosen} />}
      </div>
      {columns.map((column, at) => (
        <div
          key={column.id}
          className={style.th}
          role="columnheader"
          aria-colindex={at + 2}
          aria-sort={sort === column.name ? "ascending" : sort === `-${column.name}` ? "descending" : undefined}
        >
          <ColumnMenu column={column} sort={sort} mayWrite={mayWrite} onAction={onAction} />
        </div>
      ))}
    </div>
  );
});

type ColumnMenuProps = Pick<GridHeadProps, "sort" | "mayWrite" | "onAction"> & { column: TableColumn };

function ColumnMenu({ column, sort, mayWrite, onAction }: ColumnMenuProps) {
  const act = (action: ColumnAction) => () => onAction(action, column);
  return (
    <Menu position="bottom-start" width={220} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <button type="button" className={style.name}>
          <ColumnTypeIcon type={column.type} />
          <span className="cut">{column.name}</span>
          {sort === column.name && <ArrowUp size={13} />}
          {sort === `-${column.name}` && <ArrowDown size={13} />}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {column.name}, {columnTypeName(column.type)}
        </Menu.Label>
        {mayWrite && (
          <Menu.Item leftSection={<Pencil size={14} />} onClick={act("change")}>
            {say("renameAndChange")}
          </Menu.Item>
        )}
        {isSortableColumn(column.type) && (
          <>
            <Menu.Item leftSection={<ArrowUp size={14} />} onClick={act("sortUp")}>
              {say("sortUp")}
            </Menu.Item>
            <Menu.Item leftSection={<ArrowDown size={14} />} onClick={act("sortDown")}>
              {say("sortDown")}
            </Menu.Item>
          </>
        )}
        <Menu.Item leftSection={<Filter size={14} />} onClick={act("filter")}>
          {say("filterByIt")}
        </Menu.Item>
        {mayWrite && (
          <>
            <Menu.Divider />
            <Menu.Item leftSection={<Plus size={14} />} onClick={act("insert")}>
              {say("insertAfter")}
            </Menu.Item>
            <Menu.Item className={style.danger} leftSection={<Trash size={14} />} onClick={act("delete")}>
              {say("deleteColumn")}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
