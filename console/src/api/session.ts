import { basePath, STRICT } from "./base";
import { noteLostRequest } from "./connection";
import { ApiError, readApiError } from "./errors";
import { noteWrite } from "./repeats";
import { forgetActingTenant } from "./tenant";

/** `unknown` until the first refresh has answered; `expired` keeps the page and asks for the password over it. */
export type SessionState = "unknown" | "signed-out" | "signed-in" | "expired";
type Grant = { token: string; expiresAt: number };
type Notice = { kind: "grant"; grant: Grant } | { kind: "signed-out" };

const HINT = "retinue.signed-in";
const EARLY_MS = 30_000;

let grant: Grant | undefined;
let state: SessionState = "unknown";
let pending: Promise<boolean> | undefined;
const listeners = new Set<() => void>();
const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("retinue-session");

channel?.addEventListener("message", ({ data }: MessageEvent<Notice>) => {
  if (data.kind === "grant") {
    grant = data.grant;
    if (state !== "signed-in") enterSessionState("signed-in");
  } else if (state !== "signed-out") {
    grant = undefined;
    enterSessionState("signed-out");
  }
});

function enterSessionState(next: SessionState) {
  state = next;
  for (const listener of listeners) listener();
}

export const readSessionState = () => state;
export function subscribeToSession(listener: () => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function acceptTokenGrant(body: { access_token: string; expires_in: number }) {
  grant = { token: body.access_token, expiresAt: Date.now() + body.expires_in * 1000 };
  localStorage.setItem(HINT, "1");
  channel?.postMessage({ kind: "grant", grant } satisfies Notice);
  enterSessionState("signed-in");
}

const postCountedJson = (path: string, body: object): Promise<Response> => noteWrite(postJson(path, body));

async function postJson(path: string, body: object): Promise<Response> {
  const headers: Record<string, string> = { "Content-Type": "application/json", [STRICT[0]]: STRICT[1] };
  if (grant) headers.Authorization = `Bearer ${grant.token}`;
  try {
    return await fetch(basePath + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      credentials: "same-origin",
    });
  } catch {
    throw noteLostRequest();
  }
}

/** Sign in; the result is a token for the second step if the account has one. */
export async function signIn(email: string, password: string, remember: boolean): Promise<string | undefined> {
  const response = await postCountedJson("/auth/login", { email, password, session: "cookie", remember });
  if (!response.ok) throw await readApiError(response);
  const body = await response.json();
  if (body.mfa_required) return body.mfa_token as string;
  acceptTokenGrant(body);
}

export type FirstPerson = { token: string; first_name: string; last_name: string; email: string; password: string };

/** What a person without an account may know of the instance. */
async function readInstanceSetup(): Promise<{ open: boolean; sends_mail: boolean }> {
  const response = await fetch(`${basePath}/auth/setup`).catch(() => undefined);
  return response?.ok ? await response.json() : { open: false, sends_mail: true };
}

/** Whether the instance waits for its first administrator. */
export const isSetupOpen = async (): Promise<boolean> => (await readInstanceSetup()).open;

/** Whether mails reach people; without a mail server they are files on the server. */
export const canSendMail = async (): Promise<boolean> => (await readInstanceSetup()).sends_mail;

export type LinkState = "works" | "wrong" | "used";

/** Whether the link of the set-up or of a password reset works; what cannot be asked now is left to its form. */
export async function loadLinkState(purpose: "setup" | "reset_password", token: string): Promise<LinkState> {
  const response = await postCountedJson("/auth/link", { purpose, token });
  if (response.status === 409) return "used";
  return response.status === 422 ? "wrong" : "works";
}

/** Make the first administrator with the link that the server printed; they are signed in at once. */
export async function createFirstPerson(person: FirstPerson): Promise<void> {
  const response = await postCountedJson("/auth/setup", { ...person, session: "cookie", remember: true });
  if (!response.ok) throw await readApiError(response);
  acceptTokenGrant(await response.json());
}

export async function verifySignInCode(mfaToken: string, code: string, remember: boolean): Promise<void> {
  const response = await postCountedJson("/auth/mfa/verify", {
    mfa_token: mfaToken,
    code,
    session: "cookie",
    remember,
  });
  if (!response.ok) throw await readApiError(response);
  acceptTokenGrant(await response.json());
}

const withSessionLock = (work: () => Promise<boolean>): Promise<boolean> =>
  navigator.locks ? navigator.locks.request("retinue-refresh", work).then((done) => done) : work();

/** One refresh at a time over all tabs. A tab that waited takes what the other one got. */
async function exchangeSessionCookie(): Promise<boolean> {
  const before = grant?.token;
  return withSessionLock(async () => {
    if (grant && grant.token !== before && grant.expiresAt > Date.now()) return true;
    for (const isLast of [false, true]) {
      const response = await postCountedJson("/auth/refresh", { session: "cookie" });
      if (response.ok) {
        acceptTokenGrant(await response.json());
        return true;
      }
      if (response.status !== 401 && response.status !== 422) throw await readApiError(response);
      if (isLast || response.status === 422) break;
      // A tab without locks may have replaced the cookie a moment ago.
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    return false;
  });
}

/** Get a new access token; returns whether there is a session. */
export function refreshAccessToken(): Promise<boolean> {
  pending ??= exchangeSessionCookie()
    .then((isOpen) => {
      if (!isOpen) loseSession();
      return isOpen;
    })
    .finally(() => {
      pending = undefined;
    });
  return pending;
}

function loseSession() {
  grant = undefined;
  const wasOpen = state === "signed-in";
  localStorage.removeItem(HINT);
  enterSessionState(wasOpen ? "expired" : "signed-out");
}

/** Find out at the start whether there is a session. Without one on this browser nothing is asked. */
export async function resumeSession(): Promise<void> {
  if (!localStorage.getItem(HINT)) return enterSessionState("signed-out");
  await refreshAccessToken();
}

/** The access token, renewed if it is about to end; undefined without a session. */
export async function findAccessToken(): Promise<string | undefined> {
  if (grant && grant.expiresAt - EARLY_MS < Date.now()) await refreshAccessToken();
  return grant?.token;
}

export async function signOut(): Promise<void> {
  try {
    await findAccessToken();
    const response = await postCountedJson("/auth/logout", {});
    if (!response.ok && response.status !== 401) throw await readApiError(response);
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) throw error;
  }
  grant = undefined;
  localStorage.removeItem(HINT);
  forgetActingTenant();
  channel?.postMessage({ kind: "signed-out" } satisfies Notice);
  enterSessionState("signed-out");
}

export function leaveExpiredSession() {
  enterSessionState("signed-out");
}
