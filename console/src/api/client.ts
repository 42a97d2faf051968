import createClient, { type Middleware } from "openapi-fetch";
import { basePath, STRICT } from "./base";
import { noteLostRequest } from "./connection";
import { ApiError, isOwnLimit, readApiError } from "./errors";
import { noteWrite } from "./repeats";
import type { paths } from "./schema";
import { findAccessToken, refreshAccessToken } from "./session";
import { readActingTenant } from "./tenant";

export type Rate = { limit: number; remaining: number; resetAt: number };
let rate: Rate | undefined;
const rateListeners = new Set<() => void>();
export const readRateLimit = () => rate;
export function subscribeToRateLimit(listener: () => void) {
  rateListeners.add(listener);
  return () => void rateListeners.delete(listener);
}

/** Until when the organization's requests are refused, and the seconds of the window that is used up. */
export type RequestPause = { endsAt: number; windowSeconds: number };
let pause: RequestPause = { endsAt: 0, windowSeconds: 60 };
export const readRatePause = () => pause;

/** What an answer says about the organization's requests; a refusal by another limit has numbers of its own. */
export function noteRateLimit(response: Response) {
  const isRefused = response.status === 429;
  if (isRefused && !isOwnLimit(response)) return;
  if (isRefused) {
    const seconds = Number(response.headers.get("Retry-After")) || 30;
    const windowSeconds = Number(response.headers.get("X-RateLimit-Window")) || 60;
    pause = { endsAt: Date.now() + 1000 * seconds, windowSeconds };
    for (const listener of rateListeners) listener();
  }
  const limit = Number(response.headers.get("X-RateLimit-Limit"));
  if (!limit) return;
  const reset = Number(response.headers.get("X-RateLimit-Reset"));
  rate = { limit, remaining: Number(response.headers.get("X-RateLimit-Remaining")), resetAt: reset * 1000 };
  for (const listener of rateListeners) listener();
}

const GATEWAY_CODES = ["http_502", "http_503", "http_504"];
const createCorrelationId = () => `con_${crypto.getRandomValues(new Uint32Array(3)).join("").slice(0, 24)}`;

/** `fetch` with the session: the token from memory, one refresh after a 401, errors as `ApiError`. */
export function fetchAsUser(input: Request): Promise<Response> {
  const answer = sendWithRefresh(input);
  return input.method === "GET" ? answer : noteWrite(answer);
}

const sendWithRefresh = async (input: Request) => requireOkResponse(await exchangeWithRefresh(input));

/** As `fetchAsUser`, but a refusal is an answer like any other, for pages that show answers as they are. */
export async function exchangeAsUser(input: Request): Promise<Response> {
  const answer = exchangeWithRefresh(input);
  const response = await (input.method === "GET" ? answer : noteWrite(answer));
  noteRateLimit(response);
  return response;
}

async function exchangeWithRefresh(input: Request): Promise<Response> {
  const spare = input.clone();
  const first = await sendRequest(input);
  return first.status === 401 && (await refreshAccessToken()) ? sendRequest(spare) : first;
}

async function sendRequest(request: Request): Promise<Response> {
  const token = await findAccessToken();
  if (token) request.headers.set("Authorization", `Bearer ${token}`);
  const tenant = readActingTenant();
  if (tenant) request.headers.set("X-Tenant-ID", tenant);
  request.headers.set("X-Correlation-ID", createCorrelationId());
  request.headers.set(...STRICT);
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw noteLostRequest();
  }
}

async function requireOkResponse(response: Response): Promise<Response> {
  noteRateLimit(response);
  if (response.ok) return response;
  const error = await readApiError(response);
  // A gateway answers for a server that is gone, and not in our words.
  throw GATEWAY_CODES.includes(error.code) ? noteLostRequest() : error;
}

const empty: Middleware = {
  onResponse: ({ response }) => (response.status === 204 ? new Response("null", { status: 200 }) : undefined),
};

export const api = createClient<paths>({ baseUrl: `${location.origin}${basePath}`, fetch: fetchAsUser });
api.use(empty);

/** The data of an answer; `fetchAsUser` has thrown already if there is none. */
export async function unwrapData<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data: found } = await answer;
  if (found === undefined) throw new ApiError(0, "unexpected", "The answer was empty.");
  return found;
}

export const apiUrlOf = (path: string) => `${location.origin}${basePath}${path}`;
