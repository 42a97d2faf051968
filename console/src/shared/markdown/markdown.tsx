import { parseMarkdown } from "@retinue/markdown";
import type { MarkdownElement, MarkdownNode } from "@retinue/markdown/tree";
import { createElement, Fragment, type ReactNode } from "react";
import { general } from "../i18n/general";
import { CodeBlock } from "./code_block";
import style from "./markdown.module.css";

const CITATION = /\[(\d{1,2})\]/;

/** Markdown as elements. HTML in the text is shown as text; links lead to http, https and mail addresses only. */
export function Markdown({ children, onCite }: { children: string; onCite?: (index: number) => void }) {
  return <div className={style.text}>{renderNodes(parseMarkdown(children), onCite)}</div>;
}

type Cite = ((index: number) => void) | undefined;

const renderNodes = (nodes: MarkdownNode[], cite: Cite): ReactNode[] =>
  nodes.map((node, i) => (
    <Fragment key={i}>{typeof node === "string" ? linkCitations(node, cite) : renderElement(node, cite)}</Fragment>
  ));

function renderElement(node: MarkdownElement, cite: Cite): ReactNode {
  const { tag, children, align, isShort, isLong } = node;
  switch (tag) {
    case "heading":
      return createElement(`h${Math.min(6, (node.level ?? 1) + 2)}`, null, renderNodes(children, cite));
    case "pre":
      return <CodeBlock text={String(children[0] ?? "")} language={node.language} />;
    case "code":
      return <code className="mono">{renderNodes(children, undefined)}</code>;
    case "a":
      return (
        <a className="inline-link" href={node.href} target="_blank" rel="noopener noreferrer nofollow">
          {renderNodes(children, undefined)}
        </a>
      );
    case "table":
      return <MarkdownTable>{renderNodes(children, cite)}</MarkdownTable>;
    case "th":
    case "td": {
      const place = { "data-align": align, "data-short": isShort, "data-long": isLong };
      return createElement(tag, { ...place, scope: tag === "th" ? "col" : undefined }, renderNodes(children, cite));
    }
    case "br":
      return node.isSoft ? "\n" : <br />;
    case "hr":
      return <hr />;
    case "ol":
      return <ol start={node.start}>{renderNodes(children, cite)}</ol>;
    default:
      return createElement(tag, null, renderNodes(children, cite));
  }
}

/** As wide as its words need; what does not fit is reached by scrolling inside the reply. */
function MarkdownTable({ children }: { children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className={style.table} tabIndex={0} aria-label={general("table")}>
      <table>{children}</table>
    </section>
  );
}

function linkCitations(text: string, cite: Cite): ReactNode {
  if (!cite || !CITATION.test(text)) return text;
  return text.split(/(\[\d{1,2}\])/).map((part, i) => {
    const index = Number(CITATION.exec(part)?.[1]);
    if (!index) return part;
    return (
      <button
        key={i}
        type="button"
        className={style.cite}
        aria-label={general("source", { number: index })}
        onClick={() => cite(index)}
      >
        {index}
      </button>
    );
  });
}
