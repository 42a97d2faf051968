import javascript from "highlight.js/lib/languages/javascript";
import python from "highlight.js/lib/languages/python";
import { createLowlight } from "lowlight";

export type CodeLanguage = "python" | "javascript";
export type ColouredRange = { from: number; to: number; kind: string };

const highlighter = createLowlight({ javascript, python });
/** Longer code keeps one colour: colouring it would keep a key waiting. */
const MAX_COLOURED_LENGTH = 20_000;
const KINDS: Record<string, string> = {
  keyword: "keyword",
  string: "text",
  regexp: "text",
  number: "literal",
  literal: "literal",
  comment: "comment",
  title: "title",
  built_in: "title",
};
type Token = ReturnType<typeof highlighter.highlight>["children"][number];

/** The parts of a code that have a colour, in their order; nested parts keep the colour of the outermost. */
export function findColouredRanges(text: string, language: CodeLanguage): ColouredRange[] {
  if (text.length > MAX_COLOURED_LENGTH) return [];
  const ranges: ColouredRange[] = [];
  let at = 0;
  const visit = (token: Token, outer?: string) => {
    if (token.type === "text") {
      const from = at;
      at += token.value.length;
      if (outer && at > from) ranges.push({ from, to: at, kind: outer });
    } else if (token.type === "element") {
      const names = token.properties.className;
      const name = String(Array.isArray(names) ? names[0] : "").replace(/^hljs-/, "");
      for (const child of token.children) visit(child, outer ?? KINDS[name]);
    }
  };
  for (const token of highlighter.highlight(language, text).children) visit(token);
  return ranges;
}
