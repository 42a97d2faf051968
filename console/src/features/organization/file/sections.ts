/** The sections of a tenant file, in the order in which an export writes them. */
export const FILE_SECTIONS = [
  "data_tables",
  "tools",
  "agents",
  "workflows",
  "forms",
  "notification_channels",
  "webhooks",
  "incoming_webhooks",
  "subscriptions",
  "budgets",
  "trace_exporters",
  "agent_documents",
] as const;
export type FileSection = (typeof FILE_SECTIONS)[number];

export const FILE_FORMATS = ["yaml", "json"] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** What an export says of itself at its end: the sections that it had to leave out. */
export function readExportWarnings(text: string, format: FileFormat): string[] {
  if (format === "json") return (JSON.parse(text) as { warnings?: string[] }).warnings ?? [];
  const [, listed = ""] = /\nwarnings:\n((?:[ ]*- .*(?:\n|$))+)$/.exec(text) ?? [];
  return listed
    .split("\n")
    .filter(Boolean)
    .map((line) =>
      line
        .replace(/^ *- /, "")
        .replace(/^'(.*)'$/, "$1")
        .replaceAll("''", "'"),
    );
}
