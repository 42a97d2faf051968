/** The parts of Usage in their order. */
export const USAGE_TABS = [
  { word: "overview", to: "/usage", needs: "usage:read" },
  { word: "budgets", to: "/usage/budgets", needs: "usage:read" },
  { word: "prices", to: "/usage/prices", needs: "agents:read" },
  { word: "limits", to: "/usage/limits", needs: "usage:read" },
] as const;

export type UsageTab = (typeof USAGE_TABS)[number];
