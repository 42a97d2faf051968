import { createRandomId, parseJson } from "@retinue/elements";
import { createResponseError, createUnreachableFormError, type ErrorEnvelope, isOutage } from "./form_error";
import type {
  Answers,
  FieldOption,
  ProgressLink,
  PublishedForm,
  SavedProgress,
  Submission,
  SubmissionReceipt,
  UploadedFile,
} from "./form_types";

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
const MAX_SEARCH_LENGTH = 200;

type RequestOptions = {
  method?: "GET" | "POST" | "PUT";
  body?: unknown;
  headers?: Record<string, string>;
  keepalive?: boolean;
};
type UploadOptions = { onProgress: (share: number) => void; signal: AbortSignal };

/** The public API of one form. */
export class FormServer {
  private readonly url: string;
  private unconfirmed: { text: string; key: string } | null = null;

  constructor(baseUrl: string, slug: string | null) {
    this.url = `${baseUrl}/api/v1/public/forms/${encodeURIComponent(String(slug))}`;
  }

  /** Return the response's body; throw a `FormError` on errors. */
  async send<Result>(path: string, options: RequestOptions = {}): Promise<Result> {
    const { method = "GET", body, headers = {}, keepalive = false } = options;
    const hasBody = body !== undefined;
    const type = hasBody ? { "Content-Type": "application/json" } : undefined;
    const request: RequestInit = { method, headers: { ...headers, ...type }, credentials: "omit", keepalive };
    if (hasBody) request.body = JSON.stringify(body);
    let response: Response;
    try {
      response = await fetch(this.url + path, request);
    } catch {
      throw createUnreachableFormError();
    }
    const result: unknown = await response.json().catch(() => null);
    if (response.ok) return result as Result;
    throw createResponseError(response.status, response.headers.get("Retry-After"), result as ErrorEnvelope | null);
  }

  /** Send a request and return `data` of the response. */
  async load<Data>(path: string, options: RequestOptions = {}): Promise<Data> {
    return (await this.send<{ data: Data }>(path, options)).data;
  }

  /** Retry with growing pauses until the server responds, or until nobody waits for it any more. */
  async waitUntilReachable(isAwaited: () => boolean) {
    for (let failureCount = 0; ; failureCount += 1) {
      // Not all pages at the same moment.
      const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failureCount) * (0.8 + 0.4 * Math.random());
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (!isAwaited()) return;
      const isUnavailable = await this.send("").then(() => false, isOutage);
      if (!isUnavailable) return;
    }
  }

  loadForm(isPreview: boolean): Promise<PublishedForm> {
    return this.load(isPreview ? "?preview=1" : "");
  }

  loadOptions(fieldId: string, search: string): Promise<FieldOption[]> {
    const query = search ? `?search=${encodeURIComponent(search.slice(0, MAX_SEARCH_LENGTH))}` : "";
    return this.load(`/fields/${encodeURIComponent(fieldId)}/options${query}`);
  }

  /** Without a response, a retry uses the same idempotency key, so that the submission is stored once. */
  async submit(body: Submission): Promise<SubmissionReceipt> {
    const text = JSON.stringify(body);
    if (this.unconfirmed?.text !== text) this.unconfirmed = { text, key: createRandomId() };
    const headers = { "Idempotency-Key": this.unconfirmed.key };
    try {
      const receipt = await this.send<SubmissionReceipt>("/submit", { method: "POST", body, headers });
      this.unconfirmed = null;
      return receipt;
    } catch (error) {
      if ((error as { status?: number }).status) this.unconfirmed = null;
      throw error;
    }
  }

  saveProgress(
    sessionId: string,
    data: Answers,
    lastFieldId: string | undefined,
    keepalive = false,
  ): Promise<ProgressLink> {
    const body = { data, last_field_id: lastFieldId };
    return this.load(`/progress/${encodeURIComponent(sessionId)}`, { method: "PUT", body, keepalive });
  }

  loadProgress(sessionId: string): Promise<SavedProgress> {
    return this.load(`/progress/${encodeURIComponent(sessionId)}`);
  }

  /** Uses XMLHttpRequest, because `fetch` does not report upload progress. */
  uploadFile(fieldId: string, file: File, { onProgress, signal }: UploadOptions): Promise<UploadedFile> {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const body = new FormData();
      body.append("field_id", fieldId);
      body.append("file", file, file.name);
      request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total ? loaded / total : 0));
      request.addEventListener("load", () => {
        const result = parseJson<ErrorEnvelope & { data: UploadedFile }>(request.responseText);
        if (request.status < 300 && result) resolve(result.data);
        else reject(createResponseError(request.status, request.getResponseHeader("Retry-After"), result));
      });
      request.addEventListener("error", () => reject(createUnreachableFormError()));
      request.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
      signal.addEventListener("abort", () => request.abort());
      request.open("POST", `${this.url}/upload`);
      request.send(body);
    });
  }
}
