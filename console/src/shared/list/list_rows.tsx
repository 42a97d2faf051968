import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { FailureState, RowSkeletons } from "../states/states";

type Props<Row> = {
  list: Pick<UseQueryResult, "error" | "refetch">;
  rows: Row[] | undefined;
  /** The widths of the columns, and the number of rows, that are drawn until the rows are there. */
  columns: number[];
  count?: number;
  /** What stands there instead if there are no rows. */
  none: ReactNode;
  children: (rows: Row[]) => ReactNode;
};

/** The rows of a list as soon as they are there; until then their places, or why they did not come. */
export function ListRows<Row>({ list, rows, columns, count, none, children }: Props<Row>) {
  if (list.error && !rows) return <FailureState error={list.error} onRetry={() => void list.refetch()} />;
  if (!rows) return <RowSkeletons rows={count} columns={columns} />;
  return rows.length ? children(rows) : none;
}
