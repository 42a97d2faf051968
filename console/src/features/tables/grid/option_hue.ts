const HUES = ["", "run", "ok", "warn", "bad"] as const;

/** The ground of an option: its place in the list decides, so that it stays while rows come and go. */
export function hueOfOption(options: readonly string[], option: string): string {
  const at = options.indexOf(option);
  return at < 0 ? "" : (HUES[at % HUES.length] ?? "");
}
