import { lexer, type Token, type Tokens } from "marked";
import { createElement, Fragment, type ReactNode } from "react";
import { general } from "../i18n/general";
import style from "./markdown.module.css";

const SAFE_LINK = /^(https?:|mailto:)/i;
const CITATION = /\[(\d{1,2})\]/;

/** Markdown as elements. HTML in the text is shown as text; links lead to http, https and mail addresses only. */
export function Markdown({ children, onCite }: { children: string; onCite?: (index: number) => void }) {
  return <div className={style.text}>{blocks(lexer(children, { gfm: true }), onCite)}</div>;
}

type Cite = ((index: number) => void) | undefined;
const blocks = (tokens: Token[], cite: Cite): ReactNode[] =>
  tokens.map((token, i) => <Fragment key={i}>{block(token, cite)}</Fragment>);
const inlines = (tokens: Token[] | undefined, cite: Cite): ReactNode[] =>
  (tokens ?? []).map((token, i) => <Fragment key={i}>{inline(token, cite)}</Fragment>);

function block(token: Token, cite: Cite): ReactNode {
  switch (token.type) {
    case "space":
      return null;
    case "paragraph":
      return <p>{inlines(token.tokens, cite)}</p>;
    case "heading":
      return createElement(`h${Math.min(6, token.depth + 2)}`, null, inlines(token.tokens, cite));
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        <section className={`code ${style.code}`} tabIndex={0} aria-label={general("code")}>
          {token.text}
        </section>
      );
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [], cite)}</blockquote>;
    case "list":
      return createElement(
        token.ordered ? "ol" : "ul",
        token.ordered ? { start: Number(token.start) || 1 } : null,
        (token as Tokens.List).items.map((item, i) => <li key={i}>{blocks(item.tokens, cite)}</li>),
      );
    case "table":
      return <Table token={token as Tokens.Table} cite={cite} />;
    case "hr":
      return <hr />;
    case "text":
      return token.tokens ? inlines(token.tokens, cite) : cited(plain(token.text), cite);
    default:
      return <p>{token.raw}</p>;
  }
}

// A short cell stays on its line; a longer one breaks between words, and inside a word that is too long for a column.
const MAX_SHORT_CELL_LENGTH = 24;
const LONG_WORD = /\S{41}/;

function Cell({ of, tag, cite }: { of: Tokens.TableCell; tag: "th" | "td"; cite: Cite }) {
  const place = {
    "data-align": of.align ?? undefined,
    "data-short": of.text.length <= MAX_SHORT_CELL_LENGTH || undefined,
    "data-long": LONG_WORD.test(of.text) || undefined,
  };
  return createElement(tag, { ...place, scope: tag === "th" ? "col" : undefined }, inlines(of.tokens, cite));
}

/** As wide as its words need; what does not fit is reached by scrolling inside the reply. */
function Table({ token, cite }: { token: Tokens.Table; cite: Cite }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className={style.table} tabIndex={0} aria-label={general("table")}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, i) => (
              <Cell key={i} of={cell} tag="th" cite={cite} />
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <Cell key={j} of={cell} tag="td" cite={cite} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function inline(token: Token, cite: Cite): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inlines(token.tokens, cite)}</strong>;
    case "em":
      return <em>{inlines(token.tokens, cite)}</em>;
    case "del":
      return <del>{inlines(token.tokens, cite)}</del>;
    case "codespan":
      return <code className="mono">{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      if (!SAFE_LINK.test(token.href)) return inlines(token.tokens, cite);
      return (
        <a className="inline-link" href={token.href} target="_blank" rel="noopener noreferrer nofollow">
          {inlines(token.tokens, cite)}
        </a>
      );
    case "image":
      return token.text;
    case "escape":
      return token.text;
    case "text":
      return token.tokens ? inlines(token.tokens, cite) : cited(plain(token.text), cite);
    default:
      return token.raw;
  }
}

/** `marked` leaves entities of the source as they are. */
const plain = (text: string) =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" })[name] ?? "",
  );

function cited(text: string, cite: Cite): ReactNode {
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
