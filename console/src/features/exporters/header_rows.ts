/** A header in the form. `mask` stands for a stored value, which the server does not tell. */
export type HeaderRow = { key: number; name: string; value: string; mask?: string };

let lastKey = 0;
const nextKey = () => {
  lastKey += 1;
  return lastKey;
};

export const emptyHeaderRow = (): HeaderRow => ({ key: nextKey(), name: "", value: "" });

export const headerRowsOf = (headers: Record<string, string>): HeaderRow[] =>
  Object.entries(headers).map(([name, mask]) => ({ key: nextKey(), name, value: "", mask }));

/** The headers to send: a stored value that nobody entered anew goes back as its mask, which keeps it. */
export function headersFromRows(rows: readonly HeaderRow[]): Record<string, string> {
  const named = rows.map((row) => [row.name.trim(), row.value || row.mask || ""] as const);
  return Object.fromEntries(named.filter(([name]) => name));
}

/** Whether a row lacks its name or its value; one without both is left out. */
export const isIncomplete = ({ name, value, mask }: HeaderRow): boolean =>
  Boolean(name.trim()) !== Boolean(value || mask);
