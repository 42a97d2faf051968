/* What a form reads from the address of its page, and the addresses that it leads to. */

/** URL parameters with a meaning of their own; they fill in no field. */
const RESERVED_PARAMETERS = ["embed", "preview", "session", "v"];
const MAX_SOURCE_LENGTH = 100;
const MAX_URL_LENGTH = 1000;

/** Return the URL parameter of a field's name; null if there is none. */
export const readPageParameter = (name: string) =>
  RESERVED_PARAMETERS.includes(name) ? null : new URLSearchParams(location.search).get(name);

/** Return the origin of a submission for its metadata; URLs without queries, which may contain secrets. */
export function describePageOrigin(kind: string): Record<string, string> {
  const [referrer = ""] = document.referrer.split(/[?#]/);
  return {
    source: (readPageParameter("utm_source") || kind).slice(0, MAX_SOURCE_LENGTH),
    page_url: (location.origin + location.pathname).slice(0, MAX_URL_LENGTH),
    ...(document.referrer && { referrer: referrer.slice(0, MAX_URL_LENGTH) }),
  };
}

/** Return an absolute http or https URL, or null; paths are relative to our server. */
export function resolveWebAddress(text: string | undefined, baseUrl: string): string | null {
  if (!text) return null;
  try {
    const url = new URL(text, `${baseUrl}/`);
    return ["http:", "https:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
