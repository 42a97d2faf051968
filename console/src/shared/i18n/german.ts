type Table = Record<string, string>;

const found = import.meta.glob<Table>("/src/{*/*,*/*/*}/words.de.json", { eager: true, import: "default" });

/** By folder: `features/agents`. */
export const german: Record<string, Table> = Object.fromEntries(
  Object.entries(found).map(([path, table]) => [path.replace("/src/", "").replace("/words.de.json", ""), table]),
);
