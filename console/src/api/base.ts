const metaContent = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";

/** The path under which a proxy publishes the server; empty in development, where Vite leaves the placeholder. */
export const basePath = metaContent("retinue-base").startsWith("__") ? "" : metaContent("retinue-base");
export const serverVersion = metaContent("retinue-version").startsWith("__") ? "dev" : metaContent("retinue-version");

/** The address of a guide that this server publishes, such as `embedding.md#the-widget`. */
export const guidePath = (page: string) => `${basePath}/docs/guides/${page}`;

/** Refuse what the server would not understand: a mistake of ours is an error, not a field that is dropped. */
export const STRICT = ["Prefer", "handling=strict"] as const;
