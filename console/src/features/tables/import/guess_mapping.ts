import type { TableColumn } from "../queries";

export type ColumnGuess = { from: string; to: string | null; isGuessed: boolean };
type FileSample = { columns: string[]; rows: string[][] };

const simplify = (name: string) =>
  name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "");

const LOOKS: [RegExp, TableColumn["type"]][] = [
  [/^\S+@\S+\.\S+$/, "email"],
  [/^https?:\/\//, "url"],
  [/^\d{4}-\d{2}-\d{2}$/, "date"],
];

/** The type that most values of a column look like, where that says something: a file may have wrong ones. */
function findLookOf(values: string[]): TableColumn["type"] | undefined {
  const filled = values.filter(Boolean);
  return LOOKS.find(([look]) => filled.filter((value) => look.test(value)).length * 2 > filled.length)?.[1];
}

/** Which column of the file goes where: by its name, then by a part of it, then by what its values look like. */
export function guessMapping({ columns, rows }: FileSample, targets: readonly TableColumn[]): ColumnGuess[] {
  const free = new Map(targets.map((column) => [column.name, column]));
  const found = new Map<string, ColumnGuess>();
  const take = (from: string, target: TableColumn | undefined, isGuessed: boolean) => {
    if (!target || found.has(from)) return;
    free.delete(target.name);
    found.set(from, { from, to: target.name, isGuessed });
  };
  for (const from of columns) take(from, free.get(simplify(from)), false);
  for (const from of columns) {
    const words = simplify(from).split("_");
    take(
      from,
      [...free.values()].find(({ name }) => words.includes(name) || name.split("_").some((one) => words.includes(one))),
      true,
    );
  }
  columns.forEach((from, at) => {
    const look = findLookOf(rows.map((cells) => cells[at] ?? ""));
    take(from, look && [...free.values()].find(({ type }) => type === look), true);
  });
  return columns.map((from) => found.get(from) ?? { from, to: null, isGuessed: false });
}

export const toColumnMapping = (guesses: readonly ColumnGuess[]): Record<string, string> =>
  Object.fromEntries(guesses.flatMap(({ from, to }) => (to ? [[from, to]] : [])));
