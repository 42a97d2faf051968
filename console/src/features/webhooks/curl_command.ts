const quoteForShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const isMasked = (value: string) => /^[*•]+$/.test(value);

export type PostedRequest = { url: string; headers: Record<string, string>; body: string };

/** The request as a command. Masked headers, such as signatures, are left out: their values are not known here. */
export function writeCurlCommand({ url, headers, body }: PostedRequest): string {
  const shown = Object.entries(headers).filter(([, value]) => !isMasked(value));
  const lines = shown.map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`);
  return [`curl -X POST ${quoteForShell(url)}`, ...lines, `--data-binary ${quoteForShell(body)}`].join(" \\\n  ");
}
