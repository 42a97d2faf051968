import { expect, it } from "vitest";
import { listSetupSteps, listStepPlaces } from "./steps";

const open = { model: false, agent: false, knowledge: false, colleague: false, embed: false, budget: false };

it("offers the first steps that a person may take, and no others", () => {
  const viewer = ["api_keys:read", "agents:read", "embed_keys:read", "usage:read"];
  const developer = [...viewer, "agents:write", "embed_keys:write"];
  const with_ = (held: string[]) => listSetupSteps(open, (permission) => held.includes(permission));
  expect(with_(viewer)).toEqual([]);
  expect(with_(developer)).toEqual(["agent", "knowledge", "embed"]);
  expect(with_([...developer, "api_keys:write", "admin:users", "usage:write"])).toHaveLength(6);
  expect(listSetupSteps({ ...open, budget: null }, () => true)).not.toContain("budget");
});

it("takes each step at the agent that is there, and a budget in its form", () => {
  const draft = { id: "agt_1", status: "draft" };
  const places = listStepPlaces([draft, { id: "agt_2", status: "published" }]);
  expect(places.knowledge).toBe("/agents/agt_2/knowledge");
  expect(places.budget).toBe("/usage/budgets/new");
  expect(listStepPlaces([draft]).agent).toBe("/agents/agt_1");
  expect(listStepPlaces([]).knowledge).toBe("/welcome?step=agent");
});
