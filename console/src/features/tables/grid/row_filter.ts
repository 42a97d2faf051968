import type { GridView, RowCondition } from "../filters";

const toComparison = ({ operator, value }: RowCondition) =>
  operator === "filled" ? { exists: true } : operator === "empty" ? { exists: false } : { [operator]: value };

/** The conditions as the filter of the API. Those of columns that are gone are left out. */
export function toRowFilterText(
  where: readonly RowCondition[] = [],
  columns?: ReadonlySet<string>,
): string | undefined {
  const known = where.filter(({ column }) => !columns || columns.has(column));
  if (!known.length) return undefined;
  return JSON.stringify({ and: known.map((one) => ({ [one.column]: toComparison(one) })) });
}

export const isViewNarrowed = ({ search, where }: GridView) => Boolean(search || where?.length);
