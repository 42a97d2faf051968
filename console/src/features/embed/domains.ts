import { asApiError } from "../../api/errors";
import { groupFieldProblems } from "../../shared/use_fields";

/** A domain as it was written, with the number of its line. */
export type DomainLine = { domain: string; line: number };

/** The domains of a text with one on each line, or with commas; each once. */
export function listDomainLines(text: string): DomainLine[] {
  const written = text
    .split("\n")
    .flatMap((row, at) => row.split(",").map((domain) => ({ domain: domain.trim(), line: at + 1 })));
  return written.filter(({ domain }, at) => domain && written.findIndex((other) => other.domain === domain) === at);
}
export const parseDomains = (text: string): string[] => listDomainLines(text).map(({ domain }) => domain);

const FIELD = "allowed_domains";

/** What the server says of each domain that was sent, by the line where it stands now. */
export function listDomainProblems(
  error: Error | null,
  sent: string[],
  text: string,
): (DomainLine & { problem: string })[] {
  const { problems } = groupFieldProblems(
    error ? asApiError(error) : undefined,
    sent.map((_, at) => `${FIELD}.${at}`),
  );
  return listDomainLines(text).flatMap((line) => {
    const problem = problems[`${FIELD}.${sent.indexOf(line.domain)}`];
    return problem ? [{ ...line, problem }] : [];
  });
}

const parseHost = (address: string): string | undefined => {
  try {
    return new URL(address.includes("://") ? address : `https://${address}`).hostname.toLowerCase();
  } catch {
    return undefined;
  }
};

const HOST = /^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$|^\[[0-9a-f:.]+\]$/;

/** Whether this is a domain, or the address of a page. */
export const isValidDomain = (text: string): boolean =>
  !/\s/.test(text.trim()) && HOST.test(parseHost(text.trim()) ?? "");

/** The place that has loaded the widget and has this host, whatever its scheme and port. */
export function findSeenPlace<T extends { origin: string }>(seen: T[], address: string): T | undefined {
  const host = parseHost(address.trim());
  return host ? seen.find((one) => parseHost(one.origin) === host) : undefined;
}
