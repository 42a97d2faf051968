import { useLocation, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { ApiError } from "../../api/errors";

const storageKey = () => `retinue.link.${location.pathname}`;
const NAMES = ["token", "invite_token"];

/** The token of a link. The server leads here with it in the fragment; links of earlier mails have it in the query. */
export function findLinkToken(hash: string, search: Record<string, unknown>): string | undefined {
  const fragment = new URLSearchParams(hash);
  const found = NAMES.flatMap((name) => [fragment.get(name), search[name]]);
  return found.find((one): one is string => typeof one === "string" && one !== "");
}

/** The token of the link that opened this screen; an invitation names it as the API does. It leaves the address bar, and this tab keeps it over a reload. */
export function useLinkToken(): string {
  const hash = useLocation({ select: (now) => now.hash });
  const token = findLinkToken(hash, useSearch({ strict: false }));
  const [kept] = useState(() => token ?? sessionStorage.getItem(storageKey()) ?? "");
  useEffect(() => {
    if (!token) return;
    sessionStorage.setItem(storageKey(), token);
    history.replaceState(history.state, "", location.pathname);
  }, [token]);
  return kept;
}

export const forgetLinkToken = () => sessionStorage.removeItem(storageKey());

/** Whether a refusal is about the link itself: it has expired, was used, or is not what was mailed. */
export const isLinkRefused = (error: ApiError | undefined): boolean =>
  error?.status === 422 && "token" in error.details;
