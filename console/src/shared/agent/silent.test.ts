// @vitest-environment jsdom
import { expect, it } from "vitest";
import { isAgentSilenced } from "./silent";

const need = (title_code: string, params: object) =>
  [{ title_code, params }] as unknown as Parameters<typeof isAgentSilenced>[0];

it("knows which agent answers nobody", () => {
  expect(isAgentSilenced(need("budget_blocks", { scope: "agent", scope_id: "agt_1" }), "agt_1")).toBe(true);
  expect(isAgentSilenced(need("budget_blocks", { scope: "tenant", scope_id: null }), "agt_1")).toBe(true);
  expect(isAgentSilenced(need("budget_blocks", { scope: "agent", scope_id: "agt_2" }), "agt_1")).toBe(false);
  expect(isAgentSilenced(need("budget_near", { scope: "agent", scope_id: "agt_1" }), "agt_1")).toBe(false);
});
