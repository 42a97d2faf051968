import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import { type ReactNode, useDeferredValue, useMemo } from "react";
import style from "./highlighted_code.module.css";

const LANGUAGES = { bash, css, diff, go, ini, java, javascript, json, python, sql, typescript, xml, yaml };
const highlighter = createLowlight(LANGUAGES);
highlighter.registerAlias({ bash: ["console", "shell", "shellsession"], json: ["json5", "ndjson"] });
/** Longer code is shown in one colour: colouring it would keep the page waiting. */
const MAX_LENGTH = 20_000;

/** The class of each kind of token; what is not listed has the colour of the text. */
const KINDS: Record<string, string | undefined> = {
  addition: style.added,
  attr: style.name,
  attribute: style.name,
  built_in: style.type,
  bullet: style.keyword,
  code: style.literal,
  comment: style.comment,
  deletion: style.removed,
  doctag: style.comment,
  keyword: style.keyword,
  link: style.text,
  literal: style.literal,
  meta: style.comment,
  name: style.keyword,
  number: style.literal,
  property: style.name,
  quote: style.comment,
  regexp: style.text,
  section: style.title,
  "selector-class": style.name,
  "selector-id": style.name,
  "selector-tag": style.keyword,
  string: style.text,
  symbol: style.literal,
  tag: style.mark,
  title: style.title,
  type: style.type,
  variable: style.name,
};

type Token = ReturnType<typeof highlighter.highlight>["children"][number];

type Props = { text: string; language: string };

/** Code with its tokens in colours, as elements; this file is a chunk of its own. */
export default function HighlightedCode({ text, language }: Props) {
  // While a reply is being written, its words come first and their colours follow.
  const ready = useDeferredValue(text);
  const tokens = useMemo(() => highlightCode(ready, language), [ready, language]);
  if (!tokens || !text.startsWith(ready)) return text;
  return [...tokens, text.slice(ready.length)];
}

/** Tokens as elements; undefined for a language that is not known, and for very long code. */
function highlightCode(text: string, language: string): ReactNode[] | undefined {
  const name = language.toLowerCase();
  if (text.length > MAX_LENGTH || !highlighter.registered(name)) return;
  return highlighter.highlight(name, text).children.map(renderToken);
}

function renderToken(token: Token, key: number): ReactNode {
  if (token.type === "text") return token.value;
  if (token.type !== "element") return null;
  return (
    <span key={key} className={findTokenKind(token.properties.className)}>
      {token.children.map(renderToken)}
    </span>
  );
}

/** The class for the names of a token, such as `hljs-title function_`. */
function findTokenKind(names: unknown): string | undefined {
  const [first] = Array.isArray(names) ? names : [];
  return KINDS[String(first).replace(/^hljs-/, "")];
}
