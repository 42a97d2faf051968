/** The ways on which a question comes in. */
export const CHANNELS = [
  "console",
  "public",
  "openai",
  "mcp",
  "async",
  "audio",
  "workflow",
  "form",
  "tool",
  "playground",
] as const;
