/** The domains of a text with one per line or commas between them, as the server stores them. */
export const readDomainLines = (text: string): string[] => [
  ...new Set(
    text
      .split(/[\s,;]+/)
      .map((domain) => domain.replace(/^@/, "").toLowerCase())
      .filter(Boolean),
  ),
];
