import { describe, expect, it } from "vitest";
import { parseMarkdown } from "./blocks";
import type { MarkdownElement, MarkdownNode, MarkdownTag } from "./tree";

const node = (tag: MarkdownTag, ...children: MarkdownNode[]): MarkdownElement => ({ tag, children });
const p = (...children: MarkdownNode[]) => node("p", ...children);
const li = (...children: MarkdownNode[]) => node("li", ...children);
const strong = (...children: MarkdownNode[]) => node("strong", ...children);
const em = (...children: MarkdownNode[]) => node("em", ...children);
const code = (text: string) => node("code", text);
const heading = (level: number, ...children: MarkdownNode[]) => ({ ...node("heading", ...children), level });
const link = (href: string, ...children: MarkdownNode[]) => ({ ...node("a", ...children), href });
const soft: MarkdownElement = { tag: "br", isSoft: true, children: [] };
const hard: MarkdownElement = { tag: "br", children: [] };

const TEXTS: [string, MarkdownNode[]][] = [
  ["plain", [p("plain")]],
  ["one\ntwo\n\nthree", [p("one", soft, "two"), p("three")]],
  ["one  \ntwo\\\nthree\r\nfour\rfive", [p("one", hard, "two", hard, "three", soft, "four", soft, "five")]],
  ["a **b** c", [p("a ", strong("b"), " c")]],
  ["*a* _b_ snake_case_name", [p(em("a"), " ", em("b"), " snake_case_name")]],
  ["**a *b* c** ***d*** ~~e~~", [p(strong("a ", em("b"), " c"), " ", em(strong("d")), " ", node("del", "e"))]],
  ["2 * 3 * 4, a*, *b, **", [p("2 * 3 * 4, a*, *b, **")]],
  ["\\*a\\* &lt;b&gt; &amp;amp; &copy;", [p("*a* <b> &amp; &copy;")]],
  ["`<b>` x `` a`b `` `c", [p(code("<b>"), " x ", code("a`b"), " `c")]],
  [
    "# Title #\n## *Two*\nThree\n===\nFour\n---",
    [heading(1, "Title"), heading(2, em("Two")), heading(1, "Three"), heading(2, "Four")],
  ],
  ["a\n\n---\n* * *\nb", [p("a"), node("hr"), node("hr"), p("b")]],
  ["#hashtag", [p("#hashtag")]],
  ["- a\n- b", [node("ul", li("a"), li("b"))]],
  ["1. a\n2) b", [node("ol", li("a"), li("b"))]],
  ["3. a\n4. b", [{ ...node("ol", li("a"), li("b")), start: 3 }]],
  ["- a\n\n- b", [node("ul", li(p("a")), li(p("b")))]],
  ["- a\n1. b", [node("ul", li("a")), node("ol", li("b"))]],
  ["I was born in\n1986. It was late.", [p("I was born in", soft, "1986. It was late.")]],
  ["Steps:\n1. a\n- b", [p("Steps:"), node("ol", li("a")), node("ul", li("b"))]],
  [
    "1. a\n   - b\n     more\n   - c\n2. d\n\n> q\n> > r\n> - s\n\nend",
    [
      node("ol", li("a", node("ul", li("b", soft, "more"), li("c"))), li("d")),
      node("blockquote", p("q"), node("blockquote", p("r")), node("ul", li("s"))),
      p("end"),
    ],
  ],
  ["1. a\n  - b\n\t- c", [node("ol", li("a", node("ul", li("b", node("ul", li("c"))))))]],
  [
    "1. Run:\n\n   ```sh\n   a\n     b\n   ```\n\n2. Done",
    [node("ol", li(p("Run:"), { ...node("pre", "a\n  b"), language: "sh" }), li(p("Done")))],
  ],
  ["    - no list", [p("    - no list")]],
  ["```py\n<x> *y*\n```\nafter", [{ ...node("pre", "<x> *y*"), language: "py" }, p("after")]],
  ["```\nopen", [node("pre", "open")]],
  ["~~~\n```\n~~~", [node("pre", "```")]],
  ["[x](https://a.example/)", [p(link("https://a.example/", "x"))]],
  ['[**x** y](https://a.example/b_(c) "Title")', [p(link("https://a.example/b_(c)", strong("x"), " y"))]],
  ["see https://a.example/b.", [p("see ", link("https://a.example/b", "https://a.example/b"), ".")]],
  [
    "(https://a.example/b_(c)) **https://a.example**",
    [
      p(
        "(",
        link("https://a.example/b_(c)", "https://a.example/b_(c)"),
        ") ",
        strong(link("https://a.example/", "https://a.example")),
      ),
    ],
  ],
  [
    "<https://a.example/> www.a.example, me@a.example.",
    [
      p(
        link("https://a.example/", "https://a.example/"),
        " ",
        link("http://www.a.example/", "www.a.example"),
        ", ",
        link("mailto:me@a.example", "me@a.example"),
        ".",
      ),
    ],
  ],
  ["![x](https://evil.example/?q=1)", [p(link("https://evil.example/?q=1", "x"))]],
  ["![](https://evil.example/)", [p(link("https://evil.example/", "https://evil.example/"))]],
  ["[m](mailto:a@b.example)", [p(link("mailto:a@b.example", "m"))]],
  ["a | b\nc", [p("a | b", soft, "c")]],
]; // prettier-ignore

const HARMLESS = [
  "[x](javascript:alert%281%29)",
  "[x](JaVaScRiPt:alert)",
  "[x](data:text/html,<script>)",
  "[x](vbscript:x)",
  "[x](//evil.example)",
  "[x](/relative)",
  "[x](file:///etc/passwd)",
  "[x][1]",
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "![x][1]",
  "**",
  "[",
  "`",
  "<javascript:alert(1)>",
];

describe("Markdown", () => {
  it.each(TEXTS)("reads %j", (text, nodes) => expect(parseMarkdown(text)).toEqual(nodes));

  it.each(HARMLESS)("leaves %s as text", (text) => expect(parseMarkdown(text)).toEqual([p(text)]));

  it("links an address that a reference names, and nothing else of it", () => {
    const address = link("https://evil.example/", "https://evil.example");
    expect(parseMarkdown("[1]: https://evil.example")).toEqual([p("[1]: ", address)]);
  });

  const REMARK = "A remark that has more than a few words.";
  const cell = (tag: "th" | "td", align: MarkdownElement["align"], ...children: MarkdownNode[]): MarkdownElement => ({
    tag,
    ...(align && { align }),
    ...(children[0] !== REMARK && { isShort: true }),
    children,
  });

  it("reads tables with their alignment and short cells", () => {
    const text = `Prices:\n| Tea | Price | Note |\n|:--|--:|---|\n| Green | **3** | ${REMARK} |\n| a \\| b |\nThat is all.`;
    const head = node("tr", cell("th", "left", "Tea"), cell("th", "right", "Price"), cell("th", undefined, "Note"));
    const rows = [
      node("tr", cell("td", "left", "Green"), cell("td", "right", strong("3")), cell("td", undefined, REMARK)),
      node("tr", cell("td", "left", "a | b"), cell("td", "right"), cell("td", undefined)),
    ];
    const table = node("table", node("thead", head), node("tbody", ...rows));
    expect(parseMarkdown(text)).toEqual([p("Prices:"), table, p("That is all.")]);
  });

  it("marks a cell whose word is too long for a column", () => {
    const [table] = parseMarkdown(`| A |\n|---|\n| ${"x".repeat(50)} |`);
    expect(JSON.stringify(table)).toContain(`{"tag":"td","isLong":true,"children":["${"x".repeat(50)}"]}`);
  });

  // CPU time, and no time limit of its own: other work on the machine must not fail it.
  it("takes about twice the time for twice the text, whatever a model repeats", { timeout: 120_000 }, () => {
    const pieces = [
      "*",
      "**",
      "_",
      "`",
      "[",
      "](",
      "![",
      "**a",
      "[a](",
      "`a",
      "_a ",
      "http://",
      "https://a.b/)",
      "- ",
      "> ",
      "a@",
      "1. ",
      "| - ",
      "\n- ",
      "\n  ",
      "*a **b ",
      "`` ` ",
    ];
    const pairs = pieces.slice(1).map((piece, at) => `${pieces[at]}${piece}`.repeat(10_000));
    for (const text of [...pieces.map((piece) => piece.repeat(60_000 / piece.length)), ...pairs]) {
      const begin = process.cpuUsage();
      parseMarkdown(text);
      expect(process.cpuUsage(begin).user / 1_000, text.slice(0, 12)).toBeLessThan(2_000);
    }
  });

  it("never nests deeper than a page can draw", () => {
    const depthOf = (one: MarkdownNode): number =>
      typeof one === "string" ? 0 : 1 + Math.max(0, ...one.children.map(depthOf));
    const deep = ["> ".repeat(5000), "*a ".repeat(5000) + "b* ".repeat(5000), "*".repeat(20000), "- ".repeat(5000)];
    for (const text of deep) expect(Math.max(...parseMarkdown(text).map(depthOf))).toBeLessThan(40);
  });
});
