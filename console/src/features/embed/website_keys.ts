import type { EmbedKey } from "./queries";

/**
 * The keys that stand in the code of websites. The one that the agent's own page made for itself nobody has seen; with
 * domains it serves a website, too.
 */
export const listWebsiteKeys = (keys: EmbedKey[], pageKeyId: string | null | undefined): EmbedKey[] =>
  keys.filter((key) => key.id !== pageKeyId || key.allowed_domains.length > 0);
