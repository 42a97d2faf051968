const readMetaContent = (name: string) =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";

/** The path under which a proxy publishes the server; empty in development, where Vite leaves the placeholder. */
export const basePath = readMetaContent("retinue-base").startsWith("__") ? "" : readMetaContent("retinue-base");
export const serverVersion = readMetaContent("retinue-version").startsWith("__")
  ? "dev"
  : readMetaContent("retinue-version");

/** The address of a guide that this server publishes, such as `embedding.md#the-widget`. */
export const guidePathOf = (page: string) => `${basePath}/docs/guides/${page}`;

/** Refuse what the server would not understand: a mistake of ours is an error, not a field that is dropped. */
export const STRICT = ["Prefer", "handling=strict"] as const;
