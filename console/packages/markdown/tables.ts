import { parseInlineNodes } from "./inlines";
import type { MarkdownElement } from "./tree";

const TABLE_RULE = /^ {0,3}\|?\s{0,20}:?-{1,200}:?\s{0,20}(?:\|\s{0,20}:?-{1,200}:?\s{0,20}){0,50}\|?\s*$/;
// A short cell stays on its line; a longer one breaks between words, and inside a word that is too long for a column.
const MAX_SHORT_CELL_LENGTH = 24;
const LONG_WORD = /\S{41}/;

/** The table that begins at this line, and the line after it. */
export function parseTableAt(lines: string[], at: number): { node: MarkdownElement; end: number } | undefined {
  const [head = "", rule = ""] = [lines[at], lines[at + 1]];
  if (!head.includes("|") || !rule.includes("-") || !TABLE_RULE.test(rule)) return;
  const columns = splitCells(head);
  const aligns = splitCells(rule).map(parseAlignment);
  if (columns.length !== aligns.length && !rule.includes("|")) return;
  let end = at + 2;
  while (lines[end]?.includes("|")) end += 1;
  const rows = lines.slice(at + 2, end).map(splitCells);
  const createRowNode = (cells: string[], tag: "th" | "td"): MarkdownElement => ({
    tag: "tr",
    children: columns.map((_, column) => createCellNode(tag, cells[column] ?? "", aligns[column])),
  });
  const body: MarkdownElement[] = rows.length
    ? [{ tag: "tbody", children: rows.map((cells) => createRowNode(cells, "td")) }]
    : [];
  return {
    node: { tag: "table", children: [{ tag: "thead", children: [createRowNode(columns, "th")] }, ...body] },
    end,
  };
}

/** The cells of a row; a bar after a backslash belongs to its text. */
function splitCells(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** `:---`, `:---:` and `---:` say where the cells of a column begin. */
function parseAlignment(rule: string): MarkdownElement["align"] {
  if (!rule.endsWith(":")) return rule.startsWith(":") ? "left" : undefined;
  return rule.startsWith(":") ? "center" : "right";
}

function createCellNode(tag: "th" | "td", text: string, align: MarkdownElement["align"]): MarkdownElement {
  return {
    tag,
    ...(align && { align }),
    ...(text.length <= MAX_SHORT_CELL_LENGTH && { isShort: true }),
    ...(LONG_WORD.test(text) && { isLong: true }),
    children: parseInlineNodes(text),
  };
}
