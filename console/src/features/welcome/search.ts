export const STEPS = ["you", "model", "agent", "answer"] as const;
export type WelcomeStep = (typeof STEPS)[number];
/** The address says how far somebody is, so that a reload goes on there. */
export type WelcomeSearch = { step?: WelcomeStep; model?: string; agent?: string };

const text = (value: unknown) => (typeof value === "string" && value.length <= 300 ? value : undefined);

export function readWelcomeSearch(search: Record<string, unknown>): WelcomeSearch {
  const step = STEPS.find((one) => one === search.step);
  const model = text(search.model);
  const agent = text(search.agent);
  return { ...(step ? { step } : {}), ...(model ? { model } : {}), ...(agent ? { agent } : {}) };
}

/** The token of a printed link, given as the whole link or alone. */
export const tokenOf = (given: string) => given.trim().split("#").at(-1) ?? "";
