/*
 * From the text of a model to elements, never through HTML. A model may have been told to leak what it knows
 * through an image or a link: images are not loaded but shown as links, and nothing is fetched by itself.
 *
 * A node is { tag, children } with text as plain strings; links also have `href`, and cells may have `align`,
 * `isShort` and `isLong`.
 */

const LINK_SCHEMES = new Set(["http:", "https:", "mailto:"]);
const DEEPEST = 3;
// A short cell stays on its line; a longer one breaks between words, and inside a word that is too long for a column.
const MAX_SHORT_CELL_LENGTH = 24;
const LONG_WORD = /\S{41}/;
const MAX_LIST_DEPTH = 6;

// Every part excludes its own delimiter, so that reading takes no longer than the text is long.
const INLINE = new RegExp(
  [
    "`([^`\\n]{1,1000})`",
    "!?\\[([^\\[\\]\\n]{0,500})\\]\\(([^()\\s]{1,2000})\\)",
    "\\*\\*([^*\\n]{1,2000})\\*\\*",
    "\\*([^*\\s][^*\\n]{0,1000})\\*",
    "(?<![A-Za-z0-9_])_([^_\\s][^_\\n]{0,1000})_(?![A-Za-z0-9_])",
    "(https?://[^\\s<>\"'`\\[\\]]{1,2000})",
  ].join("|"),
  "g",
);

function safeLink(written) {
  try {
    const url = new URL(written);
    return LINK_SCHEMES.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function linkNode(written, children, source) {
  const href = safeLink(written);
  return href === null ? source : { tag: "a", href, children };
}

function inlineNodes(text, depth = 0) {
  const nodes = [];
  let start = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > start) nodes.push(text.slice(start, found.index));
    start = found.index + found[0].length;
    const [source, code, label, target, strong, star, underscore, bare] = found;
    if (code !== undefined) nodes.push({ tag: "code", children: [code] });
    else if (target !== undefined) nodes.push(linkNode(target, [label || target], source));
    else if (bare !== undefined) {
      const address = bare.replace(/[.,;:!?)]{1,10}$/, "");
      nodes.push(linkNode(address, [address], address));
      start -= bare.length - address.length;
    } else {
      const inner = strong ?? star ?? underscore;
      const children = depth < DEEPEST ? inlineNodes(inner, depth + 1) : [inner];
      nodes.push({ tag: strong === undefined ? "em" : "strong", children });
    }
  }
  if (start < text.length) nodes.push(text.slice(start));
  return nodes;
}

const TABLE_RULE = /^ {0,3}\|?\s{0,20}:?-{1,200}:?\s{0,20}(?:\|\s{0,20}:?-{1,200}:?\s{0,20}){0,50}\|?\s*$/;
const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^ {0,3}#{1,6} +(.*)$/;
const ITEM = /^([ \t]{0,40})(?:[-*+]|(\d{1,9}[.)])) +(.*)$/;
const QUOTE = /^ {0,3}> ?/;

function blockNodes(text, depth = 0) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks = [];
  let paragraph = [];
  let list = new ListReader(blocks);
  const endParagraph = () => {
    if (paragraph.length) blocks.push({ tag: "p", children: withBreaks(paragraph) });
    paragraph = [];
  };
  const endBlock = () => {
    endParagraph();
    list = new ListReader(blocks);
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    if (fence) {
      endBlock();
      const code = [];
      while (++at < lines.length && !lines[at].trimStart().startsWith(fence[1])) code.push(lines[at]);
      blocks.push({ tag: "pre", children: [{ tag: "code", children: [code.join("\n")] }] });
    } else if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) {
      endBlock();
      const rows = [line];
      const aligns = cellsOf(lines[at + 1]).map(alignOf);
      for (at += 2; at < lines.length && lines[at].includes("|"); at++) rows.push(lines[at]);
      at--;
      blocks.push(tableNode(rows.map(cellsOf), aligns));
    } else if (line.trim() === "") {
      endParagraph();
    } else if (HEADING.test(line)) {
      endBlock();
      const children = inlineNodes(HEADING.exec(line)[1]);
      blocks.push({ tag: "p", children: [{ tag: "strong", children }] });
    } else if (QUOTE.test(line)) {
      endBlock();
      const quoted = [line.replace(QUOTE, "")];
      while (QUOTE.test(lines[at + 1] ?? "")) quoted.push(lines[++at].replace(QUOTE, ""));
      const isInside = depth < DEEPEST;
      const children = isInside ? blockNodes(quoted.join("\n"), depth + 1) : [{ tag: "p", children: withBreaks(quoted) }];
      blocks.push({ tag: "blockquote", children });
    } else if (ITEM.test(line) && list.add(ITEM.exec(line), endParagraph)) {
      // The list has it.
    } else if (!paragraph.length && /^\s/.test(line) && list.continue(line.trim())) {
      // A line that is indented under an item is a part of it.
    } else {
      if (!paragraph.length) endBlock();
      paragraph.push(line);
    }
  }
  endParagraph();
  return blocks;
}

/** The cells of a row; a bar after a backslash belongs to its text. */
function cellsOf(row) {
  const inner = row.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** `:---`, `:---:` and `---:` say where the cells of a column begin. */
function alignOf(rule) {
  if (!rule.endsWith(":")) return rule.startsWith(":") ? "left" : undefined;
  return rule.startsWith(":") ? "center" : "right";
}

function cellNode(tag, text, align) {
  const isShort = text.length <= MAX_SHORT_CELL_LENGTH;
  const isLong = LONG_WORD.test(text);
  return { tag, ...(align && { align }), ...(isShort && { isShort }), ...(isLong && { isLong }), children: inlineNodes(text) };
}

function tableNode([head, ...rows], aligns) {
  const row = (cells, tag) => ({ tag: "tr", children: head.map((_, at) => cellNode(tag, cells[at] ?? "", aligns[at])) });
  const body = rows.length ? [{ tag: "tbody", children: rows.map((cells) => row(cells, "td")) }] : [];
  return { tag: "table", children: [{ tag: "thead", children: [row(head, "th")] }, ...body] };
}

/** Lists inside each other, by how far their items are indented. */
class ListReader {
  constructor(blocks) {
    this.blocks = blocks;
    /** The lists that are open, the innermost last. */
    this.open = [];
  }

  /** Take an item; false if it is none: without a list, what is indented far is text. */
  add([, space, number, text], beforeFirst) {
    const indent = space.replaceAll("\t", "    ").length;
    if (!this.open.length && indent > 3) return false;
    beforeFirst();
    while (this.open.length > 1 && indent < this.open.at(-1).indent) this.open.pop();
    const inner = this.open.at(-1);
    const isDeeper = inner && indent >= inner.indent + 2 && this.open.length < MAX_LIST_DEPTH;
    const tag = number ? "ol" : "ul";
    if (isDeeper) this.begin(inner.node.children.at(-1).children, tag, indent);
    else if (inner?.node.tag !== tag) {
      this.open.pop();
      this.begin(this.open.at(-1)?.node.children.at(-1).children ?? this.blocks, tag, indent);
    }
    this.open.at(-1).node.children.push({ tag: "li", children: inlineNodes(text) });
    return true;
  }

  begin(place, tag, indent) {
    const node = { tag, children: [] };
    place.push(node);
    this.open.push({ indent, node });
  }

  /** Add a line to the last item; false if there is none. */
  continue(text) {
    const item = this.open.at(-1)?.node.children.at(-1);
    item?.children.push({ tag: "br", children: [] }, ...inlineNodes(text));
    return Boolean(item);
  }
}

function withBreaks(lines) {
  return lines.flatMap((line, at) => [...(at ? [{ tag: "br", children: [] }] : []), ...inlineNodes(line)]);
}

/** The elements of these nodes; what a model wrote only ever becomes text and checked links. */
function elementsOf(nodes, page) {
  return nodes.map((node) => {
    if (typeof node === "string") return page.createTextNode(node);
    const element = page.createElement(node.tag);
    if (node.href) {
      element.href = node.href;
      element.target = "_blank";
      element.rel = "noopener noreferrer nofollow";
    }
    if (node.align) element.dataset.align = node.align;
    if (node.isShort) element.dataset.short = "";
    if (node.isLong) element.dataset.long = "";
    element.append(...elementsOf(node.children, page));
    return node.tag === "table" ? scrolling(element, page) : element;
  });
}

/** What is wider than the message scrolls inside it, also by keyboard. */
function scrolling(table, page) {
  const box = page.createElement("div");
  box.className = "table";
  box.tabIndex = 0;
  box.append(table);
  return box;
}
