const COMPOUND = /[\p{L}\p{N}_]+(?:[-./_:#+][\p{L}\p{N}_]+)*/gu;
const WORD = /[\p{L}\p{N}]+/gu;
const UNSPACED = /[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]/;

export type Piece = { text: string; isMatch: boolean };

const foldCase = (text: string) => text.normalize("NFKC").toLowerCase();

/** The pieces of a text: those that are words of the question are marked, also as parts of codes. */
export function highlightTerms(text: string, terms: string[]): Piece[] {
  const wanted = new Set(terms.map(foldCase));
  const marks: [number, number][] = [];
  for (const compound of text.matchAll(COMPOUND)) {
    const words = [...compound[0].matchAll(WORD)];
    if (wanted.has(foldCase(words.map((word) => word[0]).join("")))) {
      marks.push([compound.index, compound.index + compound[0].length]);
      continue;
    }
    for (const word of words)
      if (wanted.has(foldCase(word[0])))
        marks.push([compound.index + word.index, compound.index + word.index + word[0].length]);
  }
  // Scripts without spaces are searched by pairs of characters, which may stand anywhere.
  for (const term of wanted)
    if (UNSPACED.test(term))
      for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) marks.push([at, at + term.length]);
  return splitByMarks(text, marks);
}

function splitByMarks(text: string, marks: [number, number][]): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const [start, end] of marks.sort(([a], [b]) => a - b)) {
    if (end <= at) continue;
    if (start > at) found.push({ text: text.slice(at, start), isMatch: false });
    found.push({ text: text.slice(Math.max(at, start), end), isMatch: true });
    at = end;
  }
  if (at < text.length) found.push({ text: text.slice(at), isMatch: false });
  return found;
}
