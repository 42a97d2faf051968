import { expect, test } from "vitest";
import { listGrantable, splitLines } from "./grants";

test("permissions are grouped, without those that are for people", () => {
  const held = ["agents:read", "tools:read", "agents:write", "admin:users", "admin:roles", "service_accounts:write"];
  expect(listGrantable(held)).toEqual([
    ["agents", ["agents:read", "agents:write"]],
    ["tools", ["tools:read"]],
    ["admin", ["admin:users"]],
  ]);
});

test("addresses stand on lines of their own or behind commas", () => {
  expect(splitLines(" 10.0.0.0/8\n\n192.0.2.1, 192.0.2.2 ")).toEqual(["10.0.0.0/8", "192.0.2.1", "192.0.2.2"]);
});
