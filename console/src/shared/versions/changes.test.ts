import { expect, test } from "vitest";
import { describeDifference } from "./changes";

test("another order of sub-agents is told by their names", () => {
  const names = { agent_a: "Writer", agent_b: "Critic" };
  const order = { path: "sub_agents.order", from: ["agent_a", "agent_b"], to: ["agent_b", "agent_a"] };
  expect(describeDifference(order, names)).toMatchObject({
    kind: "sub",
    label: "Order of sub-agents",
    shape: "value",
    from: "Writer, Critic",
    to: "Critic, Writer",
  });
});
