import { expect, test } from "vitest";
import { budgetPlace, budgetValues, titleKeyOf } from "./budget_words";
import type { Need } from "./queries";

const budget = (title: string, params: Record<string, unknown>) =>
  ({ kind: "budget", title_code: title, params, object: { type: "budget", id: "bdg_1", name: "" } }) as unknown as Need;

test("a blocking budget that is used up says who does not answer", () => {
  const desk = budget("budget_blocks", { scope: "agent", scope_id: "agt_1", scope_name: "Support desk" });
  expect(titleKeyOf(desk)).toBe("budget_blocks_agent");
  expect(budgetValues(desk)).toMatchObject({ name: "Support desk", whose: "of Support desk" });
  expect(budgetPlace(desk)).toBe("/agents/agt_1/statistics");
  expect(titleKeyOf(budget("budget_blocks", { scope: "tenant", scope_name: null }))).toBe("budget_blocks_tenant");
});

test("the budget of something that was deleted is only used up", () => {
  const gone = budget("budget_blocks", { scope: "agent", scope_id: "agt_1", scope_name: null });
  expect(titleKeyOf(gone)).toBe("budget_spent");
  expect(budgetValues(gone).whose).toBe("of something that was deleted");
});

test("a provider key is raised where the keys are, and an organization's budget has no screen", () => {
  expect(budgetPlace(budget("budget_spent", { scope: "provider_key", scope_id: "key_1" }))).toBe("/models");
  expect(budgetPlace(budget("budget_near", { scope: "tenant" }))).toBeUndefined();
});
