/*
 * From the text of a model to elements, never through HTML. A model may have been told to leak what it knows
 * through an image or a link: images are not loaded but shown as links, and nothing is fetched by itself.
 *
 * A node is { tag, children } with text as plain strings; links also have `href`.
 */

const LINK_SCHEMES = new Set(["http:", "https:", "mailto:"]);
const DEEPEST = 3;

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
const BULLET = /^ {0,3}[-*+] +(.*)$/;
const NUMBERED = /^ {0,3}\d{1,9}[.)] +(.*)$/;

function blockNodes(text) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks = [];
  let paragraph = [];
  const endParagraph = () => {
    if (paragraph.length) blocks.push({ tag: "p", children: withBreaks(paragraph) });
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    if (fence) {
      endParagraph();
      const code = [];
      while (++at < lines.length && !lines[at].trimStart().startsWith(fence[1])) code.push(lines[at]);
      blocks.push({ tag: "pre", children: [{ tag: "code", children: [code.join("\n")] }] });
    } else if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) {
      endParagraph();
      const rows = [line];
      for (at += 2; at < lines.length && lines[at].includes("|"); at++) rows.push(lines[at]);
      at--;
      blocks.push(tableNode(rows.map(cellsOf)));
    } else if (line.trim() === "") {
      endParagraph();
    } else if (HEADING.test(line)) {
      endParagraph();
      const children = inlineNodes(HEADING.exec(line)[1]);
      blocks.push({ tag: "p", children: [{ tag: "strong", children }] });
    } else if (BULLET.test(line) || NUMBERED.test(line)) {
      endParagraph();
      addItem(blocks, BULLET.test(line) ? "ul" : "ol", (BULLET.exec(line) ?? NUMBERED.exec(line))[1]);
    } else {
      paragraph.push(line.replace(/^ {0,3}> ?/, ""));
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

function tableNode([head, ...rows]) {
  const row = (cells, tag) => ({ tag: "tr", children: head.map((_, at) => ({ tag, children: inlineNodes(cells[at] ?? "") })) });
  const body = rows.length ? [{ tag: "tbody", children: rows.map((cells) => row(cells, "td")) }] : [];
  return { tag: "table", children: [{ tag: "thead", children: [row(head, "th")] }, ...body] };
}

function addItem(blocks, tag, text) {
  const item = { tag: "li", children: inlineNodes(text) };
  const last = blocks.at(-1);
  if (last?.tag === tag) last.children.push(item);
  else blocks.push({ tag, children: [item] });
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
    element.append(...elementsOf(node.children, page));
    return element;
  });
}
