import { createAddressReader, readOneOf, readTextUpTo } from "../../shared/list/address";

export const STEPS = ["you", "model", "agent", "answer"] as const;
export type WelcomeStep = (typeof STEPS)[number];
/** The address says how far somebody is, so that a reload goes on there. */
export type WelcomeSearch = { step?: WelcomeStep; model?: string; agent?: string };

export const readWelcomeSearch = createAddressReader<WelcomeSearch>({
  step: readOneOf(STEPS),
  model: readTextUpTo(300),
  agent: readTextUpTo(300),
});
