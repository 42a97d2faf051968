import { findTranslation } from "../i18n/words";

type Table = Record<string, string>;
type Pattern = { shape: RegExp; names: string[]; text: string };

const made = new WeakMap<Table, Pattern[]>();

/** "Attached tool {tool}." as an expression that finds the name of the tool. */
function compilePatterns(table: Table): Pattern[] {
  const known = made.get(table);
  if (known) return known;
  const all = Object.entries(table).map(([template, text]) => {
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name));
    const plain = template.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "(.+?)");
    return { shape: new RegExp(`^${plain}$`, "s"), names, text };
  });
  made.set(table, all);
  return all;
}

/**
 * A sentence that the server made, in the language of this console. Such sentences have no code: they are known by
 * their form, the narrower one first in the table. English, and what is newer than this console, stays as it is.
 */
export function translateSentence(sentence: string, table = findTranslation("shared/sentences")): string {
  if (!table) return sentence;
  for (const { shape, names, text } of compilePatterns(table)) {
    const found = shape.exec(sentence);
    if (!found) continue;
    // A value may be a word of the server itself, such as "A visitor of your website".
    const values = new Map(names.map((name, place) => [name, table[found[place + 1] ?? ""] ?? found[place + 1] ?? ""]));
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole);
  }
  return sentence;
}

/** A text of several paragraphs, each of which is a sentence of its own. */
export const translateText = (text: string, table = findTranslation("shared/sentences")) =>
  text
    .split("\n\n")
    .map((part) => translateSentence(part, table))
    .join("\n\n");
