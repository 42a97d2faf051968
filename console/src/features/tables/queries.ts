import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import type { TableFilters } from "./filters";

type Schemas = components["schemas"];
export type DataTable = Schemas["TableOut"];
export type TableColumn = Schemas["ColumnOut"];
export type ColumnTypeName = TableColumn["type"];
export type ColumnChanges = Schemas["ColumnUpdate"];
export type NewColumn = Schemas["ColumnCreate"];
export type TableImport = Schemas["ImportOut"];
export type CellValue = unknown;
export type TableRow = { id: string; created_at: string; updated_at: string } & Record<string, CellValue>;
/** The types that are made from the document know no objects with any keys. */
type AnyBody = Record<string, never>;

export const TABLES_PER_PAGE = 50;
/** What one request changes at most: a paste of more rows is several. */
export const ROWS_PER_CHANGE = 100;
/** The longest list of ids that a filter takes. */
const IDS_PER_DELETION = 200;
const pathOf = (id: string) => ({ params: { path: { table_id: id } } });

export const tablesQuery = ({ search, page }: TableFilters) =>
  queryOptions({
    queryKey: ["tables", "list", { search, page }],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/data-tables", {
          params: {
            query: { per_page: TABLES_PER_PAGE, page: page ?? 1, ...(search ? { search } : {}) },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
export const tableQuery = (id: string) =>
  queryOptions({
    queryKey: ["tables", "one", id],
    queryFn: async () => (await unwrapData(api.GET("/api/v1/data-tables/{table_id}", pathOf(id)))).data,
  });
export const tableUsesQuery = (id: string) =>
  queryOptions({
    queryKey: ["tables", "uses", id],
    queryFn: () => unwrapData(api.GET("/api/v1/data-tables/{table_id}/usage", pathOf(id))),
  });
export const tableImportsQuery = (id: string) =>
  queryOptions({
    queryKey: ["tables", "imports", id],
    queryFn: async () =>
      unwrapData(
        api.GET("/api/v1/data-tables/{table_id}/imports", {
          params: { path: { table_id: id }, query: { per_page: 50 } },
        }),
      ),
    refetchInterval: ({ state }) => (state.data?.data.some(isImportUnfinished) ? 1500 : false),
  });
export const isImportUnfinished = ({ status }: TableImport) => status === "pending" || status === "running";

export type RowsAsked = { search?: string; sort?: string; filter?: string };
/** The sums in the foot of a grid, by `sum:amount` and the like. */
export const sumsQuery = (id: string, metrics: string, { search, filter }: RowsAsked) =>
  queryOptions({
    queryKey: ["tables", "sums", id, { metrics, search, filter }],
    queryFn: async ({ signal }) => {
      const query = { metrics, ...(search ? { search } : {}), ...(filter ? { filter } : {}) };
      const answer = await unwrapData(
        api.GET("/api/v1/data-tables/{table_id}/aggregate", { params: { path: { table_id: id }, query }, signal }),
      );
      return (answer.data[0] ?? {}) as Record<string, number | string | null>;
    },
    placeholderData: keepPreviousData,
  });

export const createTable = async (body: Schemas["TableCreate"]) =>
  (await unwrapData(api.POST("/api/v1/data-tables", { body }))).data;
export const deleteTable = (id: string) => unwrapData(api.DELETE("/api/v1/data-tables/{table_id}", pathOf(id)));

export const addTableColumn = async ({ id, ...body }: NewColumn & { id: string }) =>
  (await unwrapData(api.POST("/api/v1/data-tables/{table_id}/columns", { ...pathOf(id), body }))).data;
type ColumnChange = { id: string; columnId: string; isDry?: boolean; changes: ColumnChanges };
/** Change a column or, with `isDry`, only learn which values would not fit. */
export const changeColumn = async ({ id, columnId, isDry, changes }: ColumnChange) =>
  (
    await unwrapData(
      api.PATCH("/api/v1/data-tables/{table_id}/columns/{column_id}", {
        params: { path: { table_id: id, column_id: columnId }, query: isDry ? { dry_run: true } : {} },
        body: changes,
      }),
    )
  ).data;
export const deleteColumn = ({ id, columnId }: { id: string; columnId: string }) =>
  unwrapData(
    api.DELETE("/api/v1/data-tables/{table_id}/columns/{column_id}", {
      params: { path: { table_id: id, column_id: columnId } },
    }),
  );

export const addTableRow = async (id: string, values: Record<string, CellValue>) =>
  (await unwrapData(api.POST("/api/v1/data-tables/{table_id}/rows", { ...pathOf(id), body: values as AnyBody })))
    .data as unknown as TableRow;
export const changeTableRow = async (id: string, rowId: string, values: Record<string, CellValue>) =>
  (
    await unwrapData(
      api.PATCH("/api/v1/data-tables/{table_id}/rows/{row_id}", {
        params: { path: { table_id: id, row_id: rowId } },
        body: values as AnyBody,
      }),
    )
  ).data as unknown as TableRow;
/** Change cells of many rows, a hundred rows a request. */
export async function changeTableRows(id: string, rows: ({ id: string } & Record<string, CellValue>)[]) {
  const changed: TableRow[] = [];
  for (let start = 0; start < rows.length; start += ROWS_PER_CHANGE) {
    const body = { rows: rows.slice(start, start + ROWS_PER_CHANGE) as unknown as AnyBody[] };
    const answer = await unwrapData(api.PATCH("/api/v1/data-tables/{table_id}/rows", { ...pathOf(id), body }));
    changed.push(...(answer.data as unknown as TableRow[]));
  }
  return changed;
}
/** Delete rows by their ids, as far as the server goes along; the deletions are how they are named to be put back. */
export async function deleteTableRows(id: string, rowIds: string[]) {
  const deletions: string[] = [];
  let count = 0;
  for (let start = 0; start < rowIds.length; start += IDS_PER_DELETION) {
    const filter = { id: rowIds.slice(start, start + IDS_PER_DELETION) } as unknown as AnyBody;
    try {
      const { data } = await unwrapData(
        api.POST("/api/v1/data-tables/{table_id}/rows/delete", { ...pathOf(id), body: { filter } }),
      );
      if (data.deletion_id) deletions.push(data.deletion_id);
      count += data.deleted;
    } catch (error) {
      return { deletions, count, left: rowIds.slice(start), error };
    }
  }
  return { deletions, count, left: [] };
}
/** Put deleted rows back. What is back leaves the list, so that the rest can be tried again. */
export async function restoreDeletedRows(id: string, deletions: string[]) {
  for (const deletion_id of [...deletions]) {
    await unwrapData(api.POST("/api/v1/data-tables/{table_id}/rows/restore", { ...pathOf(id), body: { deletion_id } }));
    deletions.shift();
  }
}
export const readTableFile = async (id: string, format: "csv" | "json" | "xlsx", { search, filter }: RowsAsked) => {
  const query = { format, ...(search ? { search } : {}), ...(filter ? { filter } : {}) };
  const { data } = await api.GET("/api/v1/data-tables/{table_id}/export", {
    params: { path: { table_id: id }, query },
    parseAs: "blob",
  });
  return data as unknown as Blob;
};

/** A change of tables; everything that shows them is read again. */
export function useTableChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: change, onSettled: () => client.invalidateQueries({ queryKey: ["tables"] }) });
}
