import { translateProblem, translateRefusal } from "../shared/refusals/refusals";

/** A refusal of the server, or no answer at all (`status` 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
    readonly correlationId = "",
    readonly retryAfterSeconds = 0,
    /** The organization has used up its requests; other limits refuse one thing, not every request. */
    readonly isTenantLimit = false,
  ) {
    super(message);
  }

  get reasonText(): string {
    return typeof this.details.reason === "string" ? this.details.reason : "";
  }
}

/** Whether an answer is the refusal of a request by the limit of the organization's plan. */
export const isOwnLimit = (response: Response) => response.headers.get("X-RateLimit-Scope") === "tenant";

export const createUnreachableError = () =>
  new ApiError(0, "server_gone", translateRefusal("server_gone", "The server does not answer."));

/** What is wrong with which field: `{ base_url: "must begin with https://" }` → "Base url must begin with https://". */
function describeDetails(details: Record<string, unknown> = {}): string {
  const found = Object.entries(details).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return found.map(([field, text]) => describeField(field, text)).join(" ");
}

function describeField(field: string, text: string): string {
  const words = field.replace(/[_.]/g, " ");
  const isWhole = /^[A-Z]/.test(text);
  const named = `${words.charAt(0).toUpperCase()}${words.slice(1)} ${translateProblem(text)}`;
  return `${isWhole ? text : named}`.replace(/[^.!?]$/, "$&.");
}

export async function readApiError(response: Response): Promise<ApiError> {
  const correlationId = response.headers.get("X-Correlation-ID") ?? "";
  const retryAfter = Number(response.headers.get("Retry-After") ?? 0) || 0;
  try {
    const { error } = (await response.json()) as {
      error: { code: string; message: string; details?: Record<string, unknown> };
    };
    const invalid = error.code === "validation_error" && describeDetails(error.details);
    const message = invalid || translateRefusal(error.code, error.message, error.details);
    const isOwn = response.status === 429 && isOwnLimit(response);
    return new ApiError(response.status, error.code, message, error.details, correlationId, retryAfter, isOwn);
  } catch {
    return new ApiError(response.status, `http_${response.status}`, response.statusText, {}, correlationId, retryAfter);
  }
}

/** What browsers and the bundler say when a part of the page itself cannot be loaded. */
const PART_MISSING = /preload css|dynamically imported module|importing a module script failed/i;

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError(0, PART_MISSING.test(message) ? "part_missing" : "unexpected", message);
}
