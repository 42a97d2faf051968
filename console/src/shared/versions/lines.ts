export type Line = { kind: "same" | "more" | "less"; text: string } | { kind: "gap"; count: number };

const CONTEXT = 1;
const MAX_CELLS = 4_000_000;

/** The lines of two texts with what came and what went; unchanged lines far from a change are left out. */
export function diffLines(before: string, after: string): Line[] {
  const from = before.split("\n");
  const to = after.split("\n");
  let head = 0;
  while (head < from.length && head < to.length && from[head] === to[head]) head++;
  let tail = 0;
  while (
    tail < from.length - head &&
    tail < to.length - head &&
    from[from.length - 1 - tail] === to[to.length - 1 - tail]
  )
    tail++;
  const keepLine = (text: string): Line => ({ kind: "same", text });
  return foldEqualLines([
    ...from.slice(0, head).map(keepLine),
    ...diffBetween(from.slice(head, from.length - tail), to.slice(head, to.length - tail)),
    ...from.slice(from.length - tail).map(keepLine),
  ]);
}

/** The longest common lines stay, the rest went or came. */
function diffBetween(from: string[], to: string[]): Line[] {
  const gone = from.map((text): Line => ({ kind: "less", text }));
  const come = to.map((text): Line => ({ kind: "more", text }));
  if (!from.length || !to.length || from.length * to.length > MAX_CELLS) return [...gone, ...come];
  const width = to.length + 1;
  const longest = new Uint32Array((from.length + 1) * width);
  const indexOfCell = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = from.length - 1; i >= 0; i--)
    for (let j = to.length - 1; j >= 0; j--)
      longest[i * width + j] =
        from[i] === to[j] ? indexOfCell(i + 1, j + 1) + 1 : Math.max(indexOfCell(i + 1, j), indexOfCell(i, j + 1));
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && from[i] === to[j]) {
      lines.push({ kind: "same", text: from[i] ?? "" });
      i++;
      j++;
    } else if (i < from.length && (j >= to.length || indexOfCell(i + 1, j) >= indexOfCell(i, j + 1)))
      lines.push(gone[i++] as Line);
    else lines.push(come[j++] as Line);
  }
  return lines;
}

function foldEqualLines(lines: Line[]): Line[] {
  const isNear = lines.map((_, i) =>
    lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some((line) => line.kind === "more" || line.kind === "less"),
  );
  const shown: Line[] = [];
  lines.forEach((line, i) => {
    const last = shown.at(-1);
    if (isNear[i]) shown.push(line);
    else if (last?.kind === "gap") last.count++;
    else shown.push({ kind: "gap", count: 1 });
  });
  return shown;
}

export const countLines = (lines: Line[], kind: "more" | "less") => lines.filter((line) => line.kind === kind).length;
