/** Permissions that no service account can hold, even if a super administrator grants them. */
const PEOPLE_ONLY = new Set(["admin:roles", "admin:tenants", "service_accounts:write"]);

/** What the caller can give a machine, by category and in the order of the catalogue. */
export function listGrantable(held: string[]): [category: string, keys: string[]][] {
  const groups = new Map<string, string[]>();
  for (const key of held) {
    if (PEOPLE_ONLY.has(key)) continue;
    const category = key.split(":")[0] ?? key;
    groups.set(category, [...(groups.get(category) ?? []), key]);
  }
  return [...groups];
}

export const splitLines = (text: string) =>
  text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter(Boolean);
