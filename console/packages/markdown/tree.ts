/* What Markdown means, as a small tree that writers turn into elements. It holds no HTML and no unchecked address. */

export type MarkdownNode = string | MarkdownElement;

export type MarkdownElement = {
  tag: MarkdownTag;
  children: MarkdownNode[];
  /** Of a link: http, https and mailto only. */
  href?: string;
  /** Of a heading, from 1 to 6. */
  level?: number;
  /** The first number of an ordered list, if it is not 1. */
  start?: number;
  /** The language of a block of code. */
  language?: string;
  /** Of a line end that the text has but does not ask to be shown. */
  isSoft?: true;
  align?: "left" | "center" | "right";
  /** Of a cell that stays on its line. */
  isShort?: true;
  /** Of a cell with a word that may break inside. */
  isLong?: true;
};

export type MarkdownTag =
  | "p"
  | "heading"
  | "ul"
  | "ol"
  | "li"
  | "blockquote"
  | "pre"
  | "hr"
  | "table"
  | "thead"
  | "tbody"
  | "tr"
  | "th"
  | "td"
  | "strong"
  | "em"
  | "del"
  | "code"
  | "a"
  | "br";

const LINK_SCHEMES = ["http:", "https:", "mailto:"];

/** The address if it is one that a link may lead to. */
export function parseSafeAddress(written: string): string | undefined {
  try {
    const url = new URL(written);
    return LINK_SCHEMES.includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}
