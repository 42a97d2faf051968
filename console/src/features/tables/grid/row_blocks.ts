import { useDebouncedValue } from "@mantine/hooks";
import { type QueryClient, queryOptions, useQueries, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { api, unwrapData } from "../../../api/client";
import type { RowsAsked, TableRow } from "../queries";

export const ROWS_PER_BLOCK = 100;
/** Blocks that are only flown over are not asked for. */
const SETTLE_MS = 90;

type RowBlock = { data: TableRow[]; pagination: { total: number; total_is_exact: boolean } };

const blockKey = (tableId: string, asked: RowsAsked, block: number) => ["tables", "rows", tableId, asked, block];

/** One block of rows: beside the block before it if that is there, so that rows added above move nothing. */
const rowBlockQuery = (client: QueryClient, tableId: string, asked: RowsAsked, block: number) =>
  queryOptions({
    queryKey: blockKey(tableId, asked, block),
    queryFn: async ({ signal }) => {
      const before = client.getQueryData<RowBlock>(blockKey(tableId, asked, block - 1))?.data;
      const edge = before?.length === ROWS_PER_BLOCK ? before.at(-1)?.id : undefined;
      const place = edge ? { after: edge } : { page: block + 1 };
      const { search, sort, filter } = asked;
      const query = {
        per_page: ROWS_PER_BLOCK,
        ...place,
        ...(search ? { search } : {}),
        ...(sort ? { sort } : {}),
        ...(filter ? { filter } : {}),
      };
      const answer = await unwrapData(
        api.GET("/api/v1/data-tables/{table_id}/rows", { params: { path: { table_id: tableId }, query }, signal }),
      );
      return answer as unknown as RowBlock;
    },
  });

export type RowSource = {
  total: number;
  isExact: boolean;
  isLoading: boolean;
  error: Error | null;
  retry: () => void;
  rowAt: (index: number) => TableRow | undefined;
  /** Where a row stands among those that are loaded; -1 if it is not. */
  indexOf: (rowId: string) => number;
  /** The rows between two places, read where they are not loaded. */
  readRows: (first: number, last: number) => Promise<TableRow[]>;
};

/** The rows between two places of a table, asked for in blocks once the scrolling settles. */
export function useRowBlocks(tableId: string, asked: RowsAsked, first: number, last: number): RowSource {
  const client = useQueryClient();
  const [settled] = useDebouncedValue(
    `${Math.floor(first / ROWS_PER_BLOCK)} ${Math.floor(Math.max(first, last) / ROWS_PER_BLOCK)}`,
    SETTLE_MS,
  );
  const [from = 0, to = 0] = settled.split(" ").map(Number);
  const blocks = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const results = useQueries({ queries: blocks.map((block) => rowBlockQuery(client, tableId, asked, block)) });
  const name = JSON.stringify([tableId, asked]);
  const known = useRef({ name: "", total: 0, isExact: true });
  const page = results.find(({ data }) => data)?.data?.pagination;
  if (page) known.current = { name, total: page.total, isExact: page.total_is_exact };
  const isKnown = known.current.name === name;
  return {
    total: isKnown ? known.current.total : 0,
    isExact: known.current.isExact,
    isLoading: !isKnown && results.some(({ isPending }) => isPending),
    error: results.find(({ error, data }) => error && !data)?.error ?? null,
    retry: () => results.forEach((one) => void (one.error && one.refetch())),
    rowAt: (index) =>
      client.getQueryData<RowBlock>(blockKey(tableId, asked, Math.floor(index / ROWS_PER_BLOCK)))?.data[
        index % ROWS_PER_BLOCK
      ],
    indexOf: (rowId) => {
      for (const [key, block] of client.getQueriesData<RowBlock>({ queryKey: ["tables", "rows", tableId, asked] })) {
        const at = block?.data.findIndex(({ id }) => id === rowId) ?? -1;
        if (at >= 0) return Number(key.at(-1)) * ROWS_PER_BLOCK + at;
      }
      return -1;
    },
    readRows: async (start, end) => {
      const rows: TableRow[] = [];
      const begin = Math.floor(start / ROWS_PER_BLOCK);
      // One after the other: a block is read beside the one before it.
      for (let block = begin; block * ROWS_PER_BLOCK <= end; block += 1)
        rows.push(...(await client.fetchQuery(rowBlockQuery(client, tableId, asked, block))).data);
      return rows.slice(start - begin * ROWS_PER_BLOCK, end + 1 - begin * ROWS_PER_BLOCK);
    },
  };
}

/** Show changed rows at once, wherever they stand. */
export function replaceLoadedRows(client: QueryClient, tableId: string, changed: readonly TableRow[]) {
  const byId = new Map(changed.map((row) => [row.id, row]));
  client.setQueriesData<RowBlock>({ queryKey: ["tables", "rows", tableId] }, (block) =>
    block?.data.some(({ id }) => byId.has(id))
      ? { ...block, data: block.data.map((row) => byId.get(row.id) ?? row) }
      : block,
  );
}
