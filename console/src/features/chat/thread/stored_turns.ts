import type { Turn } from "../../../shared/chat/chat";

/** Whether a stored turn and one of the page are the same. */
const isSameTurn = (stored: Turn, shown: Turn) =>
  stored.messageId && shown.messageId ? stored.messageId === shown.messageId : stored.question === shown.question;

/**
 * The turns of the server in place of those of the page. They keep their place on the page and what only the page
 * knows: the times, and why there is no answer. Of older turns the page may show more than was read.
 */
export function mergeStoredTurns(stored: Turn[], shown: Turn[]): Turn[] {
  const kept = new Set<Turn>();
  const merged = stored.map((turn) => {
    const known = shown.findLast((one) => !kept.has(one) && isSameTurn(turn, one));
    if (!known) return turn;
    kept.add(known);
    const { id, tookMs, firstMs, startedMs } = known;
    return { ...turn, id, tookMs, firstMs, startedMs, error: turn.error ?? (turn.text ? undefined : known.error) };
  });
  const first = shown.findIndex((one) => kept.has(one));
  const earlier = first > 0 ? shown.slice(0, first) : [];
  // The server does not have what failed and is not stored: it is sent anew.
  const unsent = shown.filter((one) => (one.isRefused || one.error) && !kept.has(one) && !earlier.includes(one));
  return [...earlier, ...merged, ...unsent.map((one) => ({ ...one, isRefused: true }))];
}

/** The turn whose versions the keys walk through: the last one that has any, its reply before its question. */
export function findVersioned(turns: Turn[]): { at: number; leafIds: string[] } | undefined {
  for (const { replyVersions, questionVersions } of turns.toReversed())
    for (const versions of [replyVersions, questionVersions])
      if (versions && versions.of > 1) return { at: versions.at, leafIds: versions.leaf_ids };
}
