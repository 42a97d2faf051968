/** Headers from lines such as `Authorization: Bearer …`; `broken` is the first line that is none. */
export function readHeaderLines(text: string): { headers: Record<string, string>; broken?: string } {
  const headers: Record<string, string> = {};
  for (const line of text.split("\n").filter((one) => one.trim())) {
    const [, name, value] = /^\s*([^\s:]+)\s*:\s*(\S.*?)\s*$/.exec(line) ?? [];
    if (!name || !value) return { headers, broken: line.trim() };
    headers[name] = value;
  }
  return { headers };
}
