import { expect, it } from "vitest";
import { countRefusedQuestions } from "./refused_questions";

const refused = (scope: string, scope_id: string | null, refused_count: number) => ({
  kind: "budget",
  params: { scope, scope_id, refused_count },
});

it("counts what budgets refused today, of one agent or of all", () => {
  const needs = [refused("agent", "agt_1", 2), refused("agent", "agt_2", 3), refused("tenant", null, 4)];
  const all = [...needs, { kind: "model", params: {} }] as unknown as Parameters<typeof countRefusedQuestions>[0];
  expect(countRefusedQuestions(all)).toBe(9);
  expect(countRefusedQuestions(all, "agt_1")).toBe(6);
  expect(countRefusedQuestions([], "agt_1")).toBe(0);
});
