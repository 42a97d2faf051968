import { expect, it } from "vitest";
import { AUDIT_AREAS, auditActionName } from "./actions";

it("names actions and areas, and leaves newer ones as they are", () => {
  expect(auditActionName("auth.logged_in")).toBe("Signed in");
  expect(auditActionName("system.user.*")).toBe("People");
  expect(auditActionName("newer.thing_done")).toBe("newer.thing_done");
});

it("puts every action into one area", () => {
  const listed = AUDIT_AREAS.flatMap(({ actions }) => actions);
  expect(new Set(listed).size).toBe(listed.length);
  expect(AUDIT_AREAS.find(({ area }) => area === "agent.*")?.actions).toContain("agent.chat.shared");
  expect(AUDIT_AREAS.every(({ actions }) => actions.length > 0)).toBe(true);
});
