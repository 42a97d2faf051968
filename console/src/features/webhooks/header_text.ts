/** Headers as people write them: one in a line, the name before the colon. */
export const writeHeaderLines = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

/** The headers of such a text; undefined if a line has no name or no value. */
export function parseHeaderLines(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const line of text.split("\n").filter((one) => one.trim())) {
    const at = line.indexOf(":");
    const name = line.slice(0, at).trim();
    const value = line.slice(at + 1).trim();
    if (at < 1 || !name || !value) return undefined;
    headers[name] = value;
  }
  return headers;
}
