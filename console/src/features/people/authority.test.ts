import { expect, it } from "vitest";
import { findObstacle } from "./authority";

const boss = { id: "usr_1", role: "tenant_admin" as const };

it.each([
  ["oneself", boss, "own"],
  ["a super administrator", { id: "usr_2", role: "super_admin" as const }, "above"],
  ["an administrator", { id: "usr_2", role: "tenant_admin" as const }, undefined],
  ["a viewer", { id: "usr_2", role: "viewer" as const }, undefined],
])("says why an administrator cannot change %s", (_, user, obstacle) =>
  expect(findObstacle(boss, user)).toBe(obstacle),
);

it("permits nothing before it is known who asks", () =>
  expect(findObstacle(undefined, { id: "usr_2", role: "viewer" })).toBe("above"));
