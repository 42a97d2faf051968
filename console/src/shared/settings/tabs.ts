/** The parts of Settings in their order: one line each is a tab, an entry of the palette and, with `keys`, a shortcut. */
export const SETTINGS_TABS = [
  { word: "organization", to: "/settings/organization", needs: "admin:users", keys: undefined },
  { word: "people", to: "/settings/people", needs: "admin:users", keys: undefined },
  { word: "roles", to: "/settings/roles", needs: "admin:users", keys: undefined },
  { word: "models", to: "/settings/models", needs: "api_keys:read", keys: "m" },
  { word: "serviceAccounts", to: "/settings/service-accounts", needs: "service_accounts:read", keys: undefined },
  { word: "audit", to: "/settings/audit", needs: "audit:read", keys: undefined },
  { word: "exporters", to: "/settings/exporters", needs: "traces:read", keys: undefined },
] as const;

export type SettingsTab = (typeof SETTINGS_TABS)[number];
