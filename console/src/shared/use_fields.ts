import { useEffect, useRef } from "react";
import { type ApiError, asApiError } from "../api/errors";
import { general } from "./i18n/general";
import { translateProblem } from "./refusals/refusals";

/** What the server says of a field, as a sentence under it: "must be text" becomes "Must be text." */
export function fieldSentence(text: string): string {
  const said = translateProblem(text);
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}`.replace(/[^.!?:]$/, "$&.");
}

// Refusals that are about one field, though they are no validation of it.
const FIELD_OF_CODE: Record<string, string> = { email_taken: "email", slug_taken: "slug" };

/** Whether a path of the server is this field, one of its entries, or the field in an object around it. */
const isPathOfField = (path: string, name: string) =>
  path === name || path.startsWith(`${name}.`) || path.endsWith(`.${name}`);

/** The problem of each of these fields, and what is left to say of the others. */
export function groupFieldProblems(error: ApiError | undefined, names: readonly string[]) {
  const problems: Record<string, string> = {};
  if (!error) return { problems, rest: "" };
  const own = FIELD_OF_CODE[error.code];
  if (own && names.includes(own)) return { problems: { [own]: error.message }, rest: "" };
  const wrong = Object.entries(error.status === 422 ? error.details : {}).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
  for (const [path, text] of wrong) {
    const name = names.find((one) => isPathOfField(path, one));
    if (!name) continue;
    // `allowed_ips.2` is the third entry of the field.
    const place = /^\d+/.exec(path.slice(name.length + 1))?.[0];
    const said = fieldSentence(text);
    const whole =
      place && path.startsWith(name) ? general("entry", { number: Number(place) + 1, problem: said }) : said;
    problems[name] = [problems[name], whole].filter(Boolean).join(" ");
  }
  const isAllMarked = wrong.length > 0 && wrong.every(([path]) => names.some((one) => isPathOfField(path, one)));
  return { problems, rest: isAllMarked ? "" : error.message };
}

/**
 * Marks every field that a refusal names and leads to the first of them.
 *
 * `form` is the ref of what holds the fields; `rest` is what no field can say.
 */
export function useFieldProblems<Name extends string, Holder extends HTMLElement = HTMLFormElement>(
  error: Error | null | undefined,
  names: readonly Name[],
) {
  const form = useRef<Holder>(null);
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  const { problems, rest } = groupFieldProblems(error ? asApiError(error) : undefined, names);
  return { form, rest, problemOf: (name: Name): string | undefined => problems[name] };
}
