import { findTranslation, renderText } from "../i18n/words";
import { translateSentence } from "../sentences/sentences";

type Details = Record<string, unknown>;

const NUMBER = /\d[\d,.]*(?<![,.])/g;

/**
 * What the server says, in the language of this console. In English that is the server's own sentence; another language
 * has the common ones by their code, or by code and reason where one code stands for several situations.
 */
export function translateRefusal(
  code: string,
  message: string,
  details: Details = {},
  table = findTranslation("shared/refusals"),
  sentences = findTranslation("shared/sentences"),
): string {
  const { reason } = details;
  const text = table?.[typeof reason === "string" ? `${code}.${reason}` : code];
  if (!text) return translateSentence(message, sentences);
  const values = Object.entries(details).filter(
    (pair): pair is [string, string | number] => typeof pair[1] === "string" || typeof pair[1] === "number",
  );
  const rendered = renderText(text, Object.fromEntries(values));
  return /\{\w+\}/.test(rendered) ? message : rendered;
}

/** "must have at least 8 characters, a number": each part has its own words. */
function translatePhraseParts(message: string, table?: Record<string, string>): string | undefined {
  const [, first, rest] = /^(must have|must be one of) (.+)$/.exec(message) ?? [];
  const frame = table?.[`${first} …`];
  if (!frame || !rest) return undefined;
  const parts = rest.split(", ").map((part) => table?.[part.replace(NUMBER, "#")] ?? part);
  return frame.replace("…", parts.join(", "));
}

/** What is wrong with a field, such as "must be at most 200 characters"; `#` stands for the numbers in it. */
export function translateProblem(message: string, table = findTranslation("shared/refusals")): string {
  const text = table?.[message.replace(NUMBER, "#")] ?? translatePhraseParts(message, table);
  const numbers = message.match(NUMBER) ?? [];
  return text ? text.replace(/#/g, () => numbers.shift() ?? "#") : message;
}
