export type LineMarks = { changed: number[]; removedBefore: number[] };

const MAX_CELLS = 400_000;

/** Which lines of `now` are not in `before`, and before which of its lines something was removed; from 1. */
export function computeLineMarks(before: string, now: string): LineMarks {
  if (before === now) return { changed: [], removedBefore: [] };
  const a = before.split("\n");
  const b = now.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return pairLines(a.slice(start, a.length - end), b.slice(start, b.length - end), start);
}

function pairLines(a: string[], b: string[], offset: number): LineMarks {
  const marks: LineMarks = { changed: [], removedBefore: [] };
  // Two long texts without anything in common: all of it counts as changed.
  const kept = a.length * b.length > MAX_CELLS ? [] : findCommonLines(a, b);
  let i = 0;
  let j = 0;
  for (const [x, y] of [...kept, [a.length, b.length] as const]) {
    const added = y - j;
    if (added === 0 && x > i) marks.removedBefore.push(offset + y + 1);
    for (; j < y; j++) marks.changed.push(offset + j + 1);
    i = x + 1;
    j = y + 1;
  }
  return marks;
}

/** The longest common subsequence as pairs of positions. */
function findCommonLines(a: string[], b: string[]): [number, number][] {
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const indexOfCell = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] =
        a[i] === b[j] ? indexOfCell(i + 1, j + 1) + 1 : Math.max(indexOfCell(i + 1, j), indexOfCell(i, j + 1));
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (indexOfCell(i + 1, j) >= indexOfCell(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

/** Characters that a token holds on average in the languages people write instructions in. */
const CHARACTERS_PER_TOKEN = 4;
export const estimateTokens = (text: string) => Math.ceil(text.length / CHARACTERS_PER_TOKEN);

export const PLACEHOLDER = /\{\{[^{}\n]*\}\}/g;
export const listPlaceholders = (text: string) => new Set(text.match(PLACEHOLDER) ?? []);
