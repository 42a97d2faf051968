import { Button } from "@mantine/core";
import { type CSSProperties, useCallback, useMemo, useRef, useState } from "react";
import { asApiError } from "../../../api/errors";
import { createTranslator } from "../../../shared/i18n/words";
import { Note } from "../../../shared/patterns/note";
import { FailureState, RowSkeletons } from "../../../shared/states/states";
import type { ColumnTypeName, TableColumn, TableRow } from "../queries";
import en from "../words.en.json";
import { CellEditor } from "./cell_editor";
import style from "./grid.module.css";
import { GridColumnHeads } from "./grid_head";
import { sortRangeEdges } from "./grid_moves";
import type { TableGridProps } from "./grid_props";
import { ROW_HEIGHT, TableGridRow } from "./grid_row";
import { GridColumnSums } from "./grid_sums";
import { useRowBlocks } from "./row_blocks";
import { useGridInput } from "./use_grid_input";

const say = createTranslator(en, "features/tables");
const FIRST_WIDTH = 52;
const OVERSCAN = 8;
/** How many rows the window moves by at once: more of them are fewer draws while scrolling. */
const STEP = 4;
const HEAD_AND_FOOT = 68;
const WIDTHS: Partial<Record<ColumnTypeName, number>> = {
  boolean: 96,
  integer: 112,
  number: 124,
  date: 130,
  datetime: 184,
  select: 132,
  email: 208,
  url: 208,
  text: 208,
  reference: 140,
};
const widthOf = ({ type }: TableColumn) => WIDTHS[type] ?? 168;

/** The rows that a box of this height shows, in steps, and some around them. */
function useRowWindow() {
  const [start, setStart] = useState(0);
  const [height, setHeight] = useState(700);
  const box = useRef<HTMLDivElement>(null);
  const attach = useCallback((element: HTMLDivElement | null) => {
    box.current = element;
    if (!element) return;
    // Another box is not scrolled, however far the one before it was.
    setStart(0);
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const followScroll = useCallback(() => {
    const top = box.current?.scrollTop ?? 0;
    setStart(Math.floor(top / ROW_HEIGHT / STEP) * STEP);
  }, []);
  const page = Math.max(1, Math.floor((height - HEAD_AND_FOOT) / ROW_HEIGHT));
  return { box, attach, followScroll, page, first: Math.max(0, start - OVERSCAN), count: page + STEP + 2 * OVERSCAN };
}

/** How wide the columns are, as the grid's styles know it. */
const useColumnLayout = (columns: readonly TableColumn[]) =>
  useMemo(() => {
    const widths = columns.map(widthOf);
    const width = widths.reduce((sum, one) => sum + one, FIRST_WIDTH);
    return {
      "--columns": `${FIRST_WIDTH}px ${widths.map((one) => `${one}px`).join(" ")}`,
      "--width": `${width}px`,
    } as CSSProperties;
  }, [columns]);

/** A spreadsheet over any number of rows: fixed heights, so that what is drawn is a division. */
export function TableGrid(props: TableGridProps) {
  const { table, asked, mayWrite, chosen, onChosen, onTotal, onColumn, none } = props;
  const columns = table.columns;
  const view = useRowWindow();
  const source = useRowBlocks(table.id, asked, view.first, view.first + view.count);
  const input = useGridInput({ ...props, source, page: view.page, box: view.box });
  const told = useRef("");
  const total = source.total;
  if (!source.isLoading && told.current !== `${total} ${source.isExact}`) {
    told.current = `${total} ${source.isExact}`;
    queueMicrotask(() => onTotal(total, source.isExact));
  }
  const layout = useColumnLayout(columns);
  const latest = useRef({ chosen, onChosen });
  latest.current = { chosen, onChosen };
  const chooseRow = useCallback((row: TableRow, isOn: boolean) => {
    const next = new Set(latest.current.chosen);
    if (isOn) next.add(row.id);
    else next.delete(row.id);
    latest.current.onChosen(next);
  }, []);
  if (source.error && !total) return <FailureState error={source.error} onRetry={source.retry} />;
  if (source.isLoading) return <RowSkeletons rows={12} columns={[30, 160, 120, 90]} />;
  if (!total) return none;
  const last = Math.min(total, view.first + view.count);
  const loaded = Array.from({ length: last - view.first }, (_, at) => source.rowAt(view.first + at));
  const present = loaded.flatMap((row) => row ?? []);
  return (
    <>
      {source.error && <MissingRows error={source.error} onRetry={source.retry} />}
      <div
        ref={view.attach}
        className={style.grid}
        role="grid"
        tabIndex={0}
        aria-label={say("rowsOf", { name: table.name })}
        aria-rowcount={total + 2}
        aria-colcount={columns.length + 1}
        aria-multiselectable
        aria-readonly={!mayWrite}
        aria-activedescendant={`cell-${input.active.row}-${input.active.column}`}
        style={layout}
        onScroll={view.followScroll}
        {...input.handlers}
      >
        <GridColumnHeads
          columns={columns}
          sort={asked.sort}
          mayWrite={mayWrite}
          onAction={onColumn}
          chosen={
            mayWrite
              ? {
                  isOn: present.length > 0 && present.every(({ id }) => chosen.has(id)),
                  isPartly: chosen.size > 0 && !present.every(({ id }) => chosen.has(id)),
                  onChange: (isOn) => onChosen(new Set(isOn ? present.map(({ id }) => id) : [])),
                }
              : undefined
          }
        />
        <div style={{ height: total * ROW_HEIGHT, position: "relative" }} role="presentation">
          <LoadedRows
            loaded={loaded}
            first={view.first}
            columns={columns}
            input={input}
            chosen={chosen}
            onChoose={mayWrite ? chooseRow : undefined}
          />
        </div>
        <GridColumnSums tableId={table.id} columns={columns} asked={asked} rowIndex={total + 2} />
      </div>
    </>
  );
}

/** Rows that were scrolled to and did not come. */
const MissingRows = ({ error, onRetry }: { error: Error; onRetry: () => void }) => (
  <Note
    tone="bad"
    action={
      <Button size="compact-xs" variant="default" onClick={onRetry}>
        {say("loadAgain")}
      </Button>
    }
  >
    {say("rowsMissing")} {asApiError(error).message}
  </Note>
);

type LoadedProps = {
  loaded: (TableRow | undefined)[];
  first: number;
  columns: readonly TableColumn[];
  input: ReturnType<typeof useGridInput>;
  chosen: ReadonlySet<string>;
  onChoose?: (row: TableRow, isOn: boolean) => void;
};

/** The rows of the window; only those that the keys act on differ from one draw to the next. */
function LoadedRows({ loaded, first, columns, input, chosen, onChoose }: LoadedProps) {
  const range = sortRangeEdges(input.range);
  const { edit } = input;
  return (
    <>
      {loaded.map((row, at) => {
        const index = first + at;
        const isActive = index === input.active.row;
        const isIn = input.isRange && index >= range.top && index <= range.bottom;
        return (
          <TableGridRow
            // The field that is open goes with its row when others come in above it.
            key={isActive && edit ? "edited" : index}
            index={index}
            row={row}
            columns={columns}
            active={isActive ? input.active.column : -1}
            left={isIn ? range.left : -1}
            right={isIn ? range.right : -2}
            isChosen={Boolean(row && chosen.has(row.id))}
            hasProblem={isActive && Boolean(edit?.problem ?? edit?.hint)}
            onChoose={onChoose}
            editor={isActive && edit ? <CellEditor edit={edit} rowNumber={index + 1} {...input.editor} /> : undefined}
          />
        );
      })}
    </>
  );
}
