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
export const listSetupSteps = (checklist: Checklist, may: (permission: string) => boolean): StepName[] =>
  ORDER.filter((name) => checklist[name] !== null && may(NEEDS[name]));

type FirstAgent = { id: string; status: string };

/** Where each step is taken: at the agent that exists already, a published one before the others. */
export function listStepPlaces(agents: FirstAgent[]): Partial<Record<StepName, string>> {
  const agent = agents.find(({ status }) => status === "published") ?? agents[0];
  const addressOf = (tab: string) => (agent ? `/agents/${agent.id}${tab}` : "/welcome?step=agent");
  return {
    model: "/settings/models",
    agent: addressOf(""),
    knowledge: addressOf("/knowledge"),
    embed: addressOf("/share"),
    budget: "/usage/budgets/new",
  };
}
