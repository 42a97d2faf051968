/** The domains of a text with one on each line, or with commas. */
export const parseDomains = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

const hostOf = (address: string): string | undefined => {
  try {
    return new URL(address.includes("://") ? address : `https://${address}`).hostname.toLowerCase();
  } catch {
    return undefined;
  }
};

const HOST = /^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$|^\[[0-9a-f:.]+\]$/;

/** Whether this is a domain, or the address of a page. */
export const isDomain = (text: string): boolean => !/\s/.test(text.trim()) && HOST.test(hostOf(text.trim()) ?? "");

/** The place that has loaded the widget and has this host, whatever its scheme and port. */
export function seenAt<T extends { origin: string }>(seen: T[], address: string): T | undefined {
  const host = hostOf(address.trim());
  return host ? seen.find((one) => hostOf(one.origin) === host) : undefined;
}
