/** A refusal of the server, or no answer at all (`status` 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
    readonly correlationId = "",
    readonly retryAfterSeconds = 0,
  ) {
    super(message);
  }

  get reason(): string {
    return typeof this.details.reason === "string" ? this.details.reason : "";
  }
}

export const offline = () => new ApiError(0, "server_gone", "The server does not answer.");

export async function errorOf(response: Response): Promise<ApiError> {
  const correlationId = response.headers.get("X-Correlation-ID") ?? "";
  const retryAfter = Number(response.headers.get("Retry-After") ?? 0) || 0;
  try {
    const { error } = (await response.json()) as {
      error: { code: string; message: string; details?: Record<string, unknown> };
    };
    return new ApiError(response.status, error.code, error.message, error.details, correlationId, retryAfter);
  } catch {
    return new ApiError(response.status, `http_${response.status}`, response.statusText, {}, correlationId, retryAfter);
  }
}

export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError(0, "unexpected", error instanceof Error ? error.message : String(error));
