import {
  createAddressReader,
  readAnyTextUpTo,
  readPageNumber,
  readTextUpTo,
  readTrueFlag,
} from "../../shared/list/address";

export type TableFilters = { search?: string; page?: number; create?: boolean };

/** One condition of a grid: a column, what is compared, and with what. */
export type RowCondition = { column: string; operator: RowOperator; value?: string | number | boolean };
export const ROW_OPERATORS = ["eq", "ne", "contains", "gt", "gte", "lt", "lte", "filled", "empty"] as const;
export type RowOperator = (typeof ROW_OPERATORS)[number];
/** What a grid shows: the address keeps it, so that a view can be handed on. */
export type GridView = { search?: string; sort?: string; where?: RowCondition[] };

const MAX_CONDITIONS = 12;

/** Read the filters of the list from the address; what does not belong there is left out. */
export const readTableFilters = createAddressReader<TableFilters>({
  search: readAnyTextUpTo(100),
  page: readPageNumber,
  create: readTrueFlag,
});

function readCondition(raw: unknown): RowCondition[] {
  const { column, operator, value } = (raw ?? {}) as Record<string, unknown>;
  const found = ROW_OPERATORS.find((name) => name === operator);
  if (typeof column !== "string" || !found) return [];
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return [{ column, operator: found, ...(isPlain ? { value } : {}) }];
}

function readConditions(raw: unknown): RowCondition[] | undefined {
  const where = Array.isArray(raw) ? raw.slice(0, MAX_CONDITIONS).flatMap(readCondition) : [];
  return where.length ? where : undefined;
}

export const readGridView = createAddressReader<GridView>({
  search: readAnyTextUpTo(100),
  sort: readTextUpTo(64),
  where: readConditions,
});
