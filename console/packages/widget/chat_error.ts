import { fillPlaceholders } from "@retinue/words";
import type { WidgetWords } from "@retinue/words/widget";

/** The parts of the service's error envelope that the widget reads. */
export type ServiceError = { code?: string; message?: string; details?: Record<string, unknown> };

type ErrorOptions = {
  mayRetry?: boolean;
  seconds?: number;
  details?: Record<string, unknown>;
  isRefusal?: boolean;
  wasBegun?: boolean;
};

/** Why a message got no answer, as the key of one of our sentences: what the service says is for its owner. */
export class ChatError extends Error {
  readonly mayRetry: boolean;
  /** The service has the message; else it is put back into the field. */
  readonly wasBegun: boolean;
  /** The service answered, but not with a reply: whether it has the message is to be asked. */
  readonly isRefusal: boolean;
  readonly seconds: number | undefined;
  /** What is wrong with which file, for a refusal that is about files. */
  readonly details: Record<string, unknown> | undefined;
  /** The sentence of the service, for the owner of the page. */
  reason?: string;

  constructor(message: string, options: ErrorOptions = {}) {
    super(message);
    this.mayRetry = options.mayRetry ?? true;
    this.wasBegun = options.wasBegun ?? message === "cutOff";
    this.isRefusal = options.isRefusal ?? false;
    this.seconds = options.seconds;
    this.details = options.details;
  }

  describe(words: WidgetWords): string {
    return fillPlaceholders(findWidgetSentence(words, this.message) ?? this.message, {
      seconds: this.seconds,
      name: words.aFile,
    });
  }
}

export const findWidgetSentence = (words: WidgetWords, key: string): string | undefined =>
  words[key as keyof WidgetWords];

export const isAbortError = (error: unknown): boolean => (error as Error | undefined)?.name === "AbortError";

/** Reasons that its owner has to do something about: a visitor reads only that there is no answer now. */
const CANNOT_ANSWER = new Set([
  "budget_exceeded",
  "model_not_configured",
  "model_unpriced",
  "token_budget_exceeded",
  "vault_sealed",
]);

/** A limit with a scope is one of the owner, not of this visitor: waiting a little does not help. */
export const isUnanswerableError = (error: ServiceError | undefined) =>
  CANNOT_ANSWER.has(error?.code ?? "") || Boolean(error?.details?.scope);

async function readServiceError(response: Response): Promise<ServiceError | undefined> {
  const envelope = (await response.json().catch(() => null)) as { error?: ServiceError } | null;
  return envelope?.error;
}

export async function createRefusalError(response: Response): Promise<ChatError> {
  const error = await readServiceError(response);
  if (isUnanswerableError(error)) return new ChatError("cannotAnswer", { isRefusal: true });
  if (response.status === 429) {
    const seconds = Number(response.headers.get("Retry-After"));
    if (seconds > 0 && seconds < 120) return new ChatError("tooManyFor", { seconds });
    // What a key may use up in a month is not about this visitor.
    return new ChatError(response.headers.get("X-RateLimit-Scope") ? "tooMany" : "cannotAnswer");
  }
  const aboutFiles = fileRefusalKey(response.status, error);
  if (aboutFiles) return new ChatError(aboutFiles, { mayRetry: false, details: error?.details ?? {} });
  if (response.status < 500 && response.status !== 422) return new ChatError("unavailable", { mayRetry: false });
  return new ChatError("failed", { isRefusal: true });
}

/** A refusal that only the owner of the page can do something about, with the sentence of the service for them. */
export async function createOwnerRefusalError(response: Response): Promise<ChatError> {
  const error = new ChatError("unavailable", { mayRetry: false });
  error.reason = (await readServiceError(response))?.message ?? "The key does not allow it.";
  return error;
}

/** The key of the sentence that says why the service refused a file or a message with files; null for other reasons. */
export function fileRefusalKey(status: number, error: ServiceError | undefined): keyof WidgetWords | null {
  if (status === 413) return "fileTooLarge";
  if (status === 415) return "fileType";
  if (error?.code === "file_not_found") return "fileGone";
  if (error?.code === "model_cannot_see") return "cannotSee";
  if (error?.code === "stt_not_configured") return "cannotHear";
  if (error?.details?.reason === "attachments_not_allowed") return "noFiles";
  return Object.keys(error?.details ?? {}).some((name) => name.startsWith("attachments")) ? "fileBroken" : null;
}
