/*
 * From the text of a model to a tree of elements, never through HTML. A model may have been told to leak what it knows
 * through an image or a link: images become links, and nothing is fetched by itself.
 */

import { parseInlineNodes } from "./inlines";
import { parseTableAt } from "./tables";
import type { MarkdownElement, MarkdownNode } from "./tree";

const FENCE = /^( {0,3})(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^( {0,3})([-*+]|(\d{1,9})[.)])(?: +(.*)|)$/;
const QUOTE = /^ {0,3}> ?/;
const MAX_DEPTH = 6;
/** A line that is indented this far under an item is a part of it, whatever the width of the item's mark is. */
const MIN_ITEM_INDENT = 2;

/** The blocks of a text. */
export function parseMarkdown(text: string): MarkdownNode[] {
  return new BlockReader(text.replace(/\r\n?/g, "\n").split("\n").map(expandTabs), 0).read();
}

const expandTabs = (line: string) => line.replace(/^[ \t]+/, (space) => space.replaceAll("\t", "    "));
const measureIndent = (line: string) => line.length - line.trimStart().length;
const isBlank = (line: string | undefined) => line !== undefined && line.trim() === "";

class BlockReader {
  private readonly blocks: MarkdownNode[] = [];
  private at = 0;

  constructor(
    private readonly lines: string[],
    private readonly depth: number,
  ) {}

  read(): MarkdownNode[] {
    while (this.at < this.lines.length) {
      const line = this.line;
      if (isBlank(line)) this.at += 1;
      else if (!(this.readFence(line) || this.readTable() || this.readMarkedBlock(line))) this.readParagraph();
    }
    return this.blocks;
  }

  private get line(): string {
    return this.lines[this.at] ?? "";
  }

  private readFence(line: string): boolean {
    const [, indent = "", fence, language] = FENCE.exec(line) ?? [];
    if (!fence) return false;
    const code: string[] = [];
    const isFenceEnd = (one: string) => one.trim().startsWith(fence) && !one.trim().replaceAll(fence.charAt(0), "");
    for (this.at += 1; this.at < this.lines.length && !isFenceEnd(this.line); this.at += 1)
      code.push(this.line.slice(Math.min(indent.length, measureIndent(this.line))));
    this.at += 1;
    this.blocks.push({ tag: "pre", ...(language && { language }), children: [code.join("\n")] });
    return true;
  }

  private readTable(): boolean {
    const table = parseTableAt(this.lines, this.at);
    if (!table) return false;
    this.blocks.push(table.node);
    this.at = table.end;
    return true;
  }

  /** Read a block that begins with a mark: a heading, a rule, a quotation or a list. */
  private readMarkedBlock(line: string): boolean {
    const heading = HEADING.exec(line);
    if (heading) {
      this.appendHeading(heading[1]?.length ?? 1, (heading[2] ?? "").trim());
      this.at += 1;
      return true;
    }
    if (RULE.test(line)) {
      this.blocks.push({ tag: "hr", children: [] });
      this.at += 1;
      return true;
    }
    if (this.depth >= MAX_DEPTH) return false;
    if (QUOTE.test(line)) return this.readQuote();
    return ITEM.test(line) && this.readList();
  }

  private appendHeading(level: number, text: string) {
    this.blocks.push({ tag: "heading", level, children: parseInlineNodes(text.replace(/(^|[ \t])#+$/, "").trim()) });
  }

  private readQuote(): boolean {
    const quoted: string[] = [];
    for (; QUOTE.test(this.line); this.at += 1) quoted.push(this.line.replace(QUOTE, ""));
    this.blocks.push({ tag: "blockquote", children: this.parseInnerBlocks(quoted) });
    return true;
  }

  private parseInnerBlocks(lines: string[]): MarkdownNode[] {
    return new BlockReader(lines, this.depth + 1).read();
  }

  private readList(): boolean {
    const [, , , number] = ITEM.exec(this.line) ?? [];
    const items: string[][] = [];
    let isLoose = false;
    for (let item = ITEM.exec(this.line); item; item = ITEM.exec(this.line)) {
      if ((item[3] === undefined) !== (number === undefined) || RULE.test(this.line)) break;
      const lines = this.readListItem(item);
      const isSpaced = isBlank(lines.at(-1));
      while (isBlank(lines.at(-1))) lines.pop();
      items.push(lines);
      isLoose ||= lines.some((line, at) => isBlank(line) && measureIndent(lines[at + 1] ?? "") === 0);
      isLoose ||=
        isSpaced && ITEM.test(this.line) && (ITEM.exec(this.line)?.[3] === undefined) === (number === undefined);
    }
    const children = items.map((lines): MarkdownElement => {
      const blocks = this.parseInnerBlocks(lines);
      return { tag: "li", children: isLoose ? blocks : blocks.flatMap(unwrapParagraph) };
    });
    const start = Number(number ?? 1);
    this.blocks.push({ tag: number === undefined ? "ul" : "ol", ...(start !== 1 && { start }), children });
    return true;
  }

  /** The lines of an item without their indentation: those that are indented, and those that go on its paragraph. */
  private readListItem([, space = "", mark = "", , text = ""]: RegExpExecArray): string[] {
    const indent = space.length;
    let width = indent + mark.length + 1;
    const lines = [text];
    let isInFence = FENCE.test(text);
    let isMeasured = false;
    for (this.at += 1; this.at < this.lines.length; this.at += 1) {
      const { line } = this;
      const isIndented = measureIndent(line) >= indent + MIN_ITEM_INDENT;
      if (!isBlank(line) && !isIndented) {
        const goesOn = !isInFence && !isBlank(lines.at(-1)) && !this.startsBlock(line) && text !== "";
        if (!goesOn) break;
      }
      // Its first indented line tells how far the item is indented, if that is less than its mark.
      if (isIndented && !isBlank(line)) width = isMeasured ? width : Math.min(width, measureIndent(line));
      isMeasured ||= isIndented && !isBlank(line);
      const inner = line.slice(Math.min(width, measureIndent(line)));
      if (FENCE.test(inner)) isInFence = !isInFence;
      lines.push(inner);
    }
    return lines;
  }

  /** Whether a line begins a block, so that a paragraph ends before it. */
  private startsBlock(line: string): boolean {
    const item = ITEM.exec(line);
    const isItem = item !== null && (item[3] === undefined ? Boolean(item[4]) : true);
    return FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || RULE.test(line) || isItem;
  }

  private readParagraph() {
    const lines = [this.line];
    for (this.at += 1; this.at < this.lines.length; this.at += 1) {
      const { line } = this;
      const underline = UNDERLINE.exec(line);
      if (underline && !ITEM.test(lines[0] ?? "")) {
        this.at += 1;
        this.appendHeading(underline[1]?.startsWith("=") ? 1 : 2, lines.join("\n"));
        return;
      }
      if (isBlank(line) || this.endsParagraph(line) || parseTableAt(this.lines, this.at)) break;
      lines.push(line.trimStart());
    }
    this.blocks.push({ tag: "p", children: parseInlineNodes(lines.join("\n").trimEnd()) });
  }

  /** A number begins a list inside a paragraph only if it is 1: a year at the beginning of a line is none. */
  private endsParagraph(line: string): boolean {
    const [, , , number] = ITEM.exec(line) ?? [];
    return this.depth < MAX_DEPTH && this.startsBlock(line) && (number === undefined || number === "1");
  }
}

const unwrapParagraph = (node: MarkdownNode): MarkdownNode[] =>
  typeof node !== "string" && node.tag === "p" ? node.children : [node];
