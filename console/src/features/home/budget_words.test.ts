import { expect, test } from "vitest";
import { budgetReasonKeyOf, findBudgetPlace, readBudgetValues, titleKeyOf } from "./budget_words";
import type { Need } from "./queries";

const budget = (title: string, params: Record<string, unknown>) =>
  ({ kind: "budget", title_code: title, params, object: { type: "budget", id: "bdg_1", name: "" } }) as unknown as Need;

test("a blocking budget that is used up says who does not answer", () => {
  const desk = budget("budget_blocks", { scope: "agent", scope_id: "agt_1", scope_name: "Support desk" });
  expect(titleKeyOf(desk)).toBe("budget_blocks_agent");
  expect(readBudgetValues(desk)).toMatchObject({ name: "Support desk", whose: "of Support desk" });
  expect(findBudgetPlace(desk)).toBe("/agents/agt_1/statistics");
  expect(titleKeyOf(budget("budget_blocks", { scope: "tenant", scope_name: null }))).toBe("budget_blocks_tenant");
});

test("a budget that refuses says why, and where that is mended", () => {
  const refused = { scope: "agent", scope_id: "agt_1", scope_name: "Support desk", refused_count: 3 };
  const dear = budget("budget_refuses", { ...refused, refused_because: "unaffordable" });
  expect(budgetReasonKeyOf(dear)).toBe("budget_refuses_unaffordable_why");
  expect(findBudgetPlace(dear)).toBe("/agents/agt_1/statistics");
  expect(findBudgetPlace(budget("budget_refuses", { ...refused, refused_because: "unpriced" }))).toBe("/usage/prices");
  expect(budgetReasonKeyOf(budget("budget_refuses", { refused_because: "newer" }))).toBe("budget_refuses_why");
  expect(budgetReasonKeyOf(budget("budget_blocks", refused))).toBe("budget_blocks_refused_why");
});

test("the budget of something that was deleted is only used up", () => {
  const gone = budget("budget_blocks", { scope: "agent", scope_id: "agt_1", scope_name: null });
  expect(titleKeyOf(gone)).toBe("budget_spent");
  expect(readBudgetValues(gone).whose).toBe("of something that was deleted");
});

test("a provider key is raised where the keys are, and an organization's budget under usage", () => {
  expect(findBudgetPlace(budget("budget_spent", { scope: "provider_key", scope_id: "key_1" }))).toBe(
    "/settings/models",
  );
  expect(findBudgetPlace(budget("budget_near", { scope: "tenant" }))).toBe("/usage/budgets");
});
