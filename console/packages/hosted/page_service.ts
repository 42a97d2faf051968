/* What a hosted page asks the service for before anybody chats: its look, and the token of a member. */

import type { components } from "@retinue/client/schema";
import type { Design } from "@retinue/widget/chat_types";

export type PublicPage = components["schemas"]["PublicPage"];
type Grant = { access_token: string; expires_in: number };

/** Why there is no page: nobody has it, the service does not answer, one has to sign in, one may not chat. */
export type PageRefusal = "missing" | "lost" | "signIn" | "refused";

export class PageError extends Error {
  constructor(readonly refusal: PageRefusal) {
    super(refusal);
  }
}

const SIGNED_IN_HINT = "retinue.signed-in";
const EARLY_MS = 30_000;

async function fetchPage(address: string, options: RequestInit): Promise<PublicPage> {
  const response = await fetch(address, { ...options, credentials: "omit" }).catch(() => undefined);
  if (response?.ok) return await response.json();
  if (response?.status === 404) throw new PageError("missing");
  if (response?.status === 401) throw new PageError("signIn");
  if (response?.status === 403) throw new PageError("refused");
  throw new PageError("lost");
}

export const loadPublicPage = (baseUrl: string, slug: string) =>
  fetchPage(`${baseUrl}/api/v1/public/pages/${encodeURIComponent(slug)}`, { cache: "no-cache" });

export const loadMemberPage = (baseUrl: string, slug: string, token: string) =>
  fetchPage(`${baseUrl}/api/v1/chat/pages/${encodeURIComponent(slug)}`, {
    headers: { Authorization: `Bearer ${token}` },
  });

export const readWidgetDesign = ({ agent, settings, allow_attachments }: PublicPage): Design => ({
  ...(agent && { agent }),
  settings: settings ?? {},
  allow_attachments: allow_attachments ?? false,
});

/** The access token of the member who is signed in to this instance in this browser, renewed before it ends. */
export class MemberToken {
  private token: string | undefined;
  private expiresAt = 0;

  constructor(private readonly baseUrl: string) {}

  /** The token; undefined if nobody is signed in here. */
  async find(): Promise<string | undefined> {
    if (this.token && this.expiresAt - EARLY_MS > Date.now()) return this.token;
    if (!hasSessionHint()) return undefined;
    // One renewal at a time, also beside the console in another tab: each uses the session's cookie up.
    return navigator.locks ? await navigator.locks.request("retinue-refresh", () => this.renew()) : await this.renew();
  }

  forget() {
    this.token = undefined;
  }

  private async renew(): Promise<string | undefined> {
    const response = await fetch(`${this.baseUrl}/auth/refresh`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ session: "cookie" }),
      credentials: "same-origin",
    }).catch(() => undefined);
    if (!response) throw new PageError("lost");
    if (!response.ok) return undefined;
    const grant = (await response.json()) as Grant;
    this.token = grant.access_token;
    this.expiresAt = Date.now() + grant.expires_in * 1000;
    return this.token;
  }
}

function hasSessionHint(): boolean {
  try {
    return localStorage.getItem(SIGNED_IN_HINT) !== null;
  } catch {
    return false;
  }
}
