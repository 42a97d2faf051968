import { expect, it } from "vitest";
import {
  applyRoleChange,
  chooseChatOnly,
  choosePermission,
  isChanged,
  listPermissionRows,
  listRoleChanges,
  type RolePermissions,
} from "./matrix";

const STORED: RolePermissions = {
  super_admin: ["agents:read", "agents:write", "tools:execute", "admin:roles"],
  tenant_admin: ["agents:read", "agents:write", "tools:execute"],
  agent_developer: ["agents:read", "agents:write"],
  agent_user: ["agents:read"],
  viewer: ["agents:read"],
};

it("says who gains and loses what", () => {
  const choices = choosePermission(
    STORED,
    choosePermission(STORED, {}, "agent_user", "tools:execute", true),
    "agent_developer",
    "agents:write",
    false,
  );
  expect(listRoleChanges(STORED, choices)).toEqual([
    { role: "agent_developer", gained: [], lost: ["agents:write"] },
    { role: "agent_user", gained: ["tools:execute"], lost: [] },
  ]);
});

it("is no change to tick and untick", () => {
  const choices = choosePermission(
    STORED,
    choosePermission(STORED, {}, "viewer", "agents:write", true),
    "viewer",
    "agents:write",
    false,
  );
  expect(isChanged(STORED, choices, "viewer", "agents:write")).toBe(false);
  expect(listRoleChanges(STORED, choices)).toEqual([]);
  expect(choices).toEqual({});
});

it("adds its own changes to what a colleague changed meanwhile", () => {
  const choices = choosePermission(STORED, {}, "agent_developer", "tools:execute", true);
  const now = { ...STORED, agent_developer: ["agents:read", "admin:users"] };
  const [change] = listRoleChanges(now, choices);
  expect(change && applyRoleChange(now.agent_developer, change)).toEqual([
    "agents:read",
    "admin:users",
    "tools:execute",
  ]);
});

it("shows all by area, and with filters what differs, fits or belongs there", () => {
  expect(listPermissionRows(STORED, {}, {}).map(([area]) => area)).toEqual(["agents", "tools", "admin"]);
  expect(listPermissionRows(STORED, {}, { differences: true })).toEqual([
    ["agents", ["agents:write"]],
    ["tools", ["tools:execute"]],
  ]);
  expect(listPermissionRows(STORED, {}, { search: "RUN" })).toEqual([["tools", ["tools:execute"]]]);
  expect(listPermissionRows(STORED, {}, { area: "admin" })).toEqual([["admin", ["admin:roles"]]]);
});

it("makes a role that only chats, with what it takes and nothing else", () => {
  const stored = { ...STORED, super_admin: [...STORED.super_admin, "agents:chat", "files:read"] };
  expect(listRoleChanges(stored, chooseChatOnly(stored, {}, "viewer"))).toEqual([
    {
      role: "viewer",
      gained: ["agents:chat", "files:read"],
      lost: ["agents:read"],
    },
  ]);
});
