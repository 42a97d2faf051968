import { fillPlaceholders } from "@retinue/words";
import { formWords } from "@retinue/words/form";

export type FieldProblem = { field: string; message: string };
export type ErrorEnvelope = { error?: { code?: string; message?: string; details?: { errors?: unknown } | null } };

type FormErrorOptions = { code?: string; status?: number; problems?: FieldProblem[] };

/** Why a request got no result, with a message for the visitor. */
export class FormError extends Error {
  readonly code: string;
  /** The status of the response; 0 if there was none. */
  readonly status: number;
  readonly problems: FieldProblem[];

  constructor(message: string, { code = "", status = 0, problems = [] }: FormErrorOptions = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.problems = problems;
  }

  /** Whether the server did not respond at all. */
  get isUnreachable() {
    return !this.status;
  }
}

export const createUnreachableFormError = () => new FormError(formWords.unreachable);

/** Whether a server that does not respond, or that fails, may still accept the same request later. */
export const isOutage = (error: unknown) => !(error instanceof FormError) || !error.status || error.status >= 500;

/** Return a message for the visitor. Anything but a `FormError` is a bug and is reported to the console. */
export function formErrorMessage(error: unknown): string {
  if (error instanceof FormError) return error.message;
  reportError(error);
  return formWords.failed;
}

/** Reasons that the form's owner has to do something about: a visitor reads only that there is no answer now. */
const CANNOT_ANSWER = [
  "budget_exceeded",
  "model_error",
  "model_not_configured",
  "model_timeout",
  "model_unpriced",
  "vault_sealed",
];
const MAX_ANNOUNCED_SECONDS = 120;

/** Return the error of a response that is not a success. */
export function createResponseError(
  status: number,
  retryAfter: string | null,
  envelope: ErrorEnvelope | null,
): FormError {
  const { code = "", message = formWords.failed, details } = envelope?.error ?? {};
  if (CANNOT_ANSWER.includes(code)) return new FormError(formWords.cannotAnswer, { code, status });
  if (status === 429) {
    const seconds = Number(retryAfter);
    const isSoon = seconds > 0 && seconds < MAX_ANNOUNCED_SECONDS;
    return new FormError(isSoon ? fillPlaceholders(formWords.tooManyFor, { seconds }) : formWords.tooMany, {
      code,
      status,
    });
  }
  const problems = Array.isArray(details?.errors) ? (details.errors as FieldProblem[]) : [];
  return new FormError(message, { code, status, problems });
}
