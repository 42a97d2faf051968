import { parseMarkdown } from "@retinue/markdown";
import type { MarkdownNode } from "@retinue/markdown/tree";

/** Elements that stand on lines of their own. */
const BLOCKS = ["p", "heading", "li", "blockquote", "pre", "tr", "hr"];
const CITATION = / ?\[\d{1,2}\]/g;

/** Markdown as it is spoken: no marks, no citations, each block on its own line. */
export const plainTextOf = (markdown: string): string =>
  joinNodes(parseMarkdown(markdown))
    .replace(CITATION, "")
    .replace(/[ \t]*\n\s*/g, "\n")
    .trim();

const joinNodes = (nodes: MarkdownNode[]): string => nodes.map(textOfNode).join("");

function textOfNode(node: MarkdownNode): string {
  if (typeof node === "string") return node;
  if (node.tag === "br") return " ";
  const text = joinNodes(node.children);
  if (node.tag === "th" || node.tag === "td") return `${text.trim()}, `;
  return BLOCKS.includes(node.tag) ? `\n${text.trim().replace(/,$/, "")}\n` : text;
}

const SENTENCE_END = /(?<=[.!?…:])\s+|\n+/;

/** The sentences of a text. While it is being written, the last one may still grow and is left out. */
export function splitSentences(text: string, isWhole: boolean): string[] {
  const sentences = text.split(SENTENCE_END).filter(Boolean);
  const isEnded = isWhole || /[.!?…:]\s$|\n$/.test(text);
  return isEnded ? sentences : sentences.slice(0, -1);
}

/** A text in pieces of at most so much, cut between sentences where that is possible. */
export function cutIntoPieces(text: string, maxLength: number): string[] {
  const pieces: string[] = [];
  for (const sentence of splitSentences(text, true))
    for (let start = 0; start < sentence.length; start += maxLength) {
      const part = sentence.slice(start, start + maxLength);
      const last = pieces.at(-1);
      if (last && last.length + part.length < maxLength) pieces[pieces.length - 1] = `${last} ${part}`;
      else pieces.push(part);
    }
  return pieces;
}
