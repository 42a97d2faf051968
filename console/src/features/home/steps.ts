import type { Checklist } from "./queries";

export type StepName = keyof Checklist;
const ORDER: StepName[] = ["model", "agent", "knowledge", "colleague", "embed", "budget"];
/** What taking a step needs; seeing that it is done needs less. */
const NEEDS: Record<StepName, string> = {
  model: "api_keys:write",
  agent: "agents:write",
  knowledge: "agents:write",
  colleague: "admin:users",
  embed: "embed_keys:write",
  budget: "usage:write",
};

/** The first steps that this person can take. */
export const stepsFor = (checklist: Checklist, may: (permission: string) => boolean): StepName[] =>
  ORDER.filter((name) => checklist[name] !== null && may(NEEDS[name]));
