import { useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";

const keyOf = () => `retinue.link.${location.pathname}`;

/** The token of the link that opened this screen; an invitation names it as the API does. It leaves the address bar, and this tab keeps it over a reload. */
export function useLinkToken(): string {
  const search = useSearch({ strict: false }) as { token?: unknown; invite_token?: unknown };
  const token = [search.token, search.invite_token].find((one) => typeof one === "string");
  const [kept] = useState(() => token ?? sessionStorage.getItem(keyOf()) ?? "");
  useEffect(() => {
    if (!token) return;
    sessionStorage.setItem(keyOf(), token);
    history.replaceState(history.state, "", location.pathname);
  }, [token]);
  return kept;
}

export const forgetLinkToken = () => sessionStorage.removeItem(keyOf());
