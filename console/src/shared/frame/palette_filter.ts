type PaletteAction = { label?: string; keywords?: string | string[] };
type PaletteGroup<Action> = { group: string; actions: Action[] };

/** Whether the text asks for actions alone. */
export const isActionSearch = (text: string) => text.startsWith(">");

const isFound = ({ label = "", keywords = "" }: PaletteAction, words: string[]) => {
  const text = `${label} ${[keywords].flat().join(" ")}`.toLowerCase();
  return words.every((word) => text.includes(word));
};

/** The entries with every word that was typed; groups in `chosen` were searched by the server and stay whole. */
export function filterPalette<Action extends PaletteAction>(
  query: string,
  groups: PaletteGroup<Action>[],
  chosen: readonly string[],
): PaletteGroup<Action>[] {
  const words = query.replace(/^>/, "").trim().toLowerCase().split(/\s+/).filter(Boolean);
  return groups
    .map((one) =>
      chosen.includes(one.group) ? one : { ...one, actions: one.actions.filter((entry) => isFound(entry, words)) },
    )
    .filter(({ actions }) => actions.length > 0);
}
