import { type MarkdownNode, type MarkdownTag, parseSafeAddress } from "./tree";

// Every part is bounded or excludes its own delimiter, so that reading takes no longer than the text is long.
const TOKEN = new RegExp(
  [
    "\\\\([!-/:-@[-`{-~])", // 1: an escaped character
    "(`+)", // 2: the beginning of code
    "!?\\[((?:\\\\.|[^\\[\\]\\\\\\n]){0,500})\\]\\(\\s{0,9}<?((?:[^()\\s<>]|\\([^()\\s]{0,500}\\)){1,2000})>?(?:\\s{1,9}(?:\"[^\"\\n]{0,300}\"|'[^'\\n]{0,300}'))?\\)", // 3, 4: a link
    "<((?:https?:\\/\\/|mailto:)[^\\s<>]{1,2000})>", // 5: an address between brackets
    "(?<![\\w/@.-])((?:https?:\\/\\/|www\\.)[^\\s<>\"'`\\[\\]]{1,2000})", // 6: a bare address
    "(?<![\\w.+@-])([\\w.+-]{1,64}@[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,5})", // 7: a mail address
    "(\\*+|_+|~~)", // 8: marks of emphasis
    "&(amp|lt|gt|quot|#39);", // 9
    "( {2,9}|\\\\)?\\n *", // 10: the end of a line, hard after two spaces or a backslash
  ].join("|"),
  "g",
);
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const MAX_OPEN_MARKS = 12;
const MAX_RUN_LENGTH = 3;
const WORD_END = /[\s\p{P}\p{S}]/u;

/** Marks of emphasis that may still be closed, with what stands after them. */
type OpenMarks = { mark: string; count: number; nodes: MarkdownNode[] };

/** The text, emphasis, code and links of a paragraph. */
export function parseInlineNodes(text: string): MarkdownNode[] {
  return new InlineReader(text).read();
}

class InlineReader {
  private readonly open: OpenMarks[] = [{ mark: "", count: 0, nodes: [] }];
  /** Where the last row of backticks of each length begins. */
  private readonly lastTicks = new Map<number, number>();

  constructor(private readonly text: string) {
    for (const { 0: run, index } of text.matchAll(/`+/g)) this.lastTicks.set(run.length, index);
  }

  read(): MarkdownNode[] {
    const { text } = this;
    let start = 0;
    TOKEN.lastIndex = 0;
    const tokens = new RegExp(TOKEN);
    for (let found = tokens.exec(text); found; found = tokens.exec(text)) {
      this.appendNodes(text.slice(start, found.index));
      start = this.readToken(found);
      tokens.lastIndex = start;
    }
    this.appendNodes(text.slice(start));
    return mergeTextNodes(this.closeMarksFrom(0));
  }

  private appendNodes(...nodes: MarkdownNode[]) {
    this.open.at(-1)?.nodes.push(...nodes.filter((node) => node !== ""));
  }

  /** Add what a token means; returns where the text goes on. */
  private readToken(found: RegExpExecArray): number {
    const [source, escaped, ticks, label, target, address, bare, mail, marks, entity] = found;
    const end = found.index + source.length;
    if (escaped) this.appendNodes(escaped);
    else if (ticks) return this.readCodeSpan(ticks, found.index);
    else if (target)
      this.appendNodes(...createLinkNodes(target, label ? new InlineReader(label).read() : [target], source));
    else if (address) this.appendNodes(...createLinkNodes(address, [address.replace(/^mailto:/, "")], source));
    else if (bare) {
      const shown = trimAddressEnd(bare);
      this.appendNodes(...createLinkNodes(bare.startsWith("www.") ? `http://${shown}` : shown, [shown], shown));
      return found.index + shown.length;
    } else if (mail) {
      const shown = mail.replace(/[.-]+$/, "");
      this.appendNodes(...createLinkNodes(`mailto:${shown}`, [shown], shown));
      return found.index + shown.length;
    } else if (marks) this.readEmphasisMarks(marks, found.index);
    else if (entity) this.appendNodes(ENTITIES[entity] ?? source);
    else this.appendNodes(found[10] ? { tag: "br", children: [] } : { tag: "br", isSoft: true, children: [] });
    return end;
  }

  private readCodeSpan(ticks: string, at: number): number {
    const start = at + ticks.length;
    let end = (this.lastTicks.get(ticks.length) ?? -1) >= start ? start : -1;
    while (end >= 0) {
      end = this.text.indexOf(ticks, end);
      if (end >= 0 && this.text[end + ticks.length] !== "`" && this.text[end - 1] !== "`") break;
      if (end >= 0) while (this.text[end] === "`") end += 1;
    }
    if (end < 0) {
      this.appendNodes(ticks);
      return start;
    }
    const code = this.text.slice(start, end).replaceAll("\n", " ");
    const isPadded = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "";
    this.appendNodes({ tag: "code", children: [isPadded ? code.slice(1, -1) : code] });
    return end + ticks.length;
  }

  /** Open or close emphasis, by what stands on both sides, as CommonMark says. */
  private readEmphasisMarks(marks: string, at: number) {
    const before = this.text[at - 1] ?? " ";
    const after = this.text[at + marks.length] ?? " ";
    const isFlanking = (to: string, from: string) => !/\s/.test(to) && (!WORD_END.test(to) || WORD_END.test(from));
    const [isLeft, isRight] = [isFlanking(after, before), isFlanking(before, after)];
    const isInWord = marks.startsWith("_") && isLeft && isRight;
    const mark = marks.charAt(0);
    let count = marks.length > MAX_RUN_LENGTH ? 0 : marks.length;
    if (isRight && !(isInWord && !WORD_END.test(after))) count = this.closeEmphasis(mark, count);
    const canOpen = isLeft && !(isInWord && !WORD_END.test(before)) && this.open.length <= MAX_OPEN_MARKS;
    if (count && canOpen) this.open.push({ mark, count, nodes: [] });
    else if (count || marks.length > MAX_RUN_LENGTH) this.appendNodes(mark.repeat(count || marks.length));
  }

  /** Close what these marks can close; returns how many of them are left. */
  private closeEmphasis(mark: string, marks: number): number {
    let count = marks;
    while (count) {
      const at = this.open.findLastIndex((one) => one.mark === mark);
      const opened = this.open[at];
      if (!opened) break;
      const used = mark === "~" ? 2 : Math.min(2, count, opened.count);
      const tag: MarkdownTag = mark === "~" ? "del" : used === 2 ? "strong" : "em";
      const above = this.closeMarksFrom(at + 1);
      const children = mergeTextNodes([...opened.nodes, ...above]);
      this.open.length = at + 1;
      opened.nodes = [];
      opened.count -= used;
      count -= used;
      if (!opened.count) this.open.length = at;
      this.appendNodes({ tag, children });
    }
    return count;
  }

  /** The nodes from this place on, with marks that nothing closed as text. */
  private closeMarksFrom(place: number): MarkdownNode[] {
    return this.open.slice(place).flatMap(({ mark, count, nodes }) => [mark.repeat(count), ...nodes]);
  }
}

/** A link, or its source as text if it leads where a link may not. */
function createLinkNodes(address: string, children: MarkdownNode[], source: string): MarkdownNode[] {
  const href = parseSafeAddress(address);
  return href === undefined ? [source] : [{ tag: "a", href, children: children.flatMap(unwrapLink) }];
}

const unwrapLink = (node: MarkdownNode): MarkdownNode[] =>
  typeof node === "string" ? [node] : node.tag === "a" ? node.children : [node];

/** An address without the punctuation of its sentence; a bracket stays if it was opened inside. */
function trimAddressEnd(address: string): string {
  let shown = address;
  for (;;) {
    const last = shown.at(-1) ?? "";
    const isOpened = last === ")" && shown.split("(").length >= shown.split(")").length;
    if (isOpened || !".,;:!?)*_~".includes(last)) return shown;
    shown = shown.slice(0, -1);
  }
}

/** Neighbouring texts as one. */
function mergeTextNodes(nodes: MarkdownNode[]): MarkdownNode[] {
  const found: MarkdownNode[] = [];
  let text: string[] = [];
  const flushText = () => {
    if (text.length) found.push(text.join(""));
    text = [];
  };
  for (const node of nodes) {
    if (typeof node === "string") {
      if (node) text.push(node);
      continue;
    }
    flushText();
    found.push(node);
  }
  flushText();
  return found;
}
