import { type RefObject, useState } from "react";
import { general } from "./i18n/general";
import { fieldSentence } from "./use_fields";

const MIN_PASSWORD_LENGTH = 8;
const MAX_PASSWORD_LENGTH = 128;
// As loose as it can be: the server has the last word, this catches what is no address at all.
const ADDRESS = /^[^\s@<>(),;:\\"[\]]{1,64}@[^\s@.]+(\.[^\s@.]+)+$/;

export const findRequiredProblem = (value: string) => (value.trim() ? undefined : general("required"));

/** The sentences of the server, so that both report a fault in the same words. */
export function findPasswordProblem(value: string): string | undefined {
  if (!value) return general("required");
  if (value.length > MAX_PASSWORD_LENGTH) return fieldSentence(`must be at most ${MAX_PASSWORD_LENGTH} characters`);
  const missing = [
    value.length < MIN_PASSWORD_LENGTH && `at least ${MIN_PASSWORD_LENGTH} characters`,
    !/\p{Lu}/u.test(value) && "an uppercase letter",
    !/\p{Ll}/u.test(value) && "a lowercase letter",
    !/\p{Nd}/u.test(value) && "a number",
  ].filter(Boolean);
  return missing.length ? fieldSentence(`must have ${missing.join(", ")}`) : undefined;
}

export const findEmailProblem = (value: string) =>
  findRequiredProblem(value) ??
  (ADDRESS.test(value.trim()) ? undefined : fieldSentence("must be a single email address"));

/**
 * What is known to be wrong before anything is sent. `check` marks all wrong fields, leads to the first of them and
 * says whether the form may be sent; before its first call nothing is marked.
 */
export function useFormChecks<Name extends string>(
  form: RefObject<HTMLElement | null>,
  problems: Record<Name, string | undefined>,
) {
  const [wasSent, setSent] = useState(false);
  const checkForm = () => {
    setSent(true);
    if (!Object.values(problems).some(Boolean)) return true;
    // The fields are marked with the next draw.
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
    return false;
  };
  return {
    check: checkForm,
    reset: () => setSent(false),
    wrong: (name: Name) => (wasSent ? problems[name] : undefined),
  };
}
