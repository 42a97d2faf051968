import { useState } from "react";

type FirstShownInput = {
  rows: readonly { id: string }[] | undefined;
  /** What the list is of: with other filters it begins anew. */
  list: string;
  /** Whether the rows are still those of the list before. */
  isPlaceholder: boolean;
};

/** The row that is shown while none is chosen: the first, and the same for as long as the list is, whatever comes. */
export function useFirstShown({ rows, list, isPlaceholder }: FirstShownInput): string | undefined {
  const [pinned, setPinned] = useState<{ list: string; id: string }>();
  const first = rows?.[0]?.id;
  if (pinned?.list === list) return pinned.id;
  if (first && !isPlaceholder) setPinned({ list, id: first });
  return first;
}
