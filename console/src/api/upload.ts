import { STRICT } from "./base";
import { apiUrlOf } from "./client";
import { noteLostRequest } from "./connection";
import { type ApiError, readApiError } from "./errors";
import { findAccessToken } from "./session";

const JSON_HEADERS = ["Content-Type", "Retry-After", "X-Correlation-ID", "X-RateLimit-Scope"];

function toFetchResponse(request: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const name of JSON_HEADERS) {
    const value = request.getResponseHeader(name);
    if (value) headers.set(name, value);
  }
  return new Response(request.responseText, { status: request.status, statusText: request.statusText, headers });
}

/** Send a form and tell the share that has left, from 0 to 1. `fetch` cannot tell that. */
export async function uploadForm<T>(
  path: string,
  form: FormData,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<T> {
  const token = await findAccessToken();
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject: (error: ApiError | DOMException) => void) => {
    const request = new XMLHttpRequest();
    request.open("POST", apiUrlOf(path));
    if (token) request.setRequestHeader("Authorization", `Bearer ${token}`);
    request.setRequestHeader(...STRICT);
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onerror = () => reject(noteLostRequest());
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    request.onload = () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText) as T);
      else void readApiError(toFetchResponse(request)).then(reject);
    };
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(form);
  });
}
