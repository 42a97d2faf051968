import { expect, test } from "vitest";
import { listPresetKeys, PRESETS, writeFirstCall } from "./presets";

const DEVELOPER = ["agents:read", "agents:write", "agents:chat", "conversations:read", "files:read", "tools:read"];
const ADMINISTRATOR = [...DEVELOPER, "audit:read", "admin:users", "admin:roles", "service_accounts:write"];

test("chat only is talking, the conversations and their files, as far as they are held", () => {
  expect(listPresetKeys("chat", DEVELOPER)).toEqual(["agents:chat", "conversations:read", "files:read"]);
});

test("who may not chat has no such preset to give", () => {
  expect(listPresetKeys("chat", ["agents:read", "conversations:read"])).toEqual([]);
});

test("read only changes nothing", () => {
  expect(listPresetKeys("read", ADMINISTRATOR)).toEqual([
    "agents:read",
    "conversations:read",
    "files:read",
    "tools:read",
    "audit:read",
  ]);
});

test("everything leaves out what only people may do", () => {
  expect(listPresetKeys("everything", ADMINISTRATOR)).not.toContain("service_accounts:write");
  expect(listPresetKeys("everything", ADMINISTRATOR)).toContain("admin:users");
});

test.each(PRESETS)("%s gives nothing that is not held", (preset) => {
  expect(listPresetKeys(preset, DEVELOPER).filter((key) => !DEVELOPER.includes(key))).toEqual([]);
});

test("the first call names the secret once and then only the token", () => {
  const call = writeFirstCall("https://x.test", "sac_1", "rcs_2");
  expect(call.split("rcs_2")).toHaveLength(2);
  expect(call).toContain("https://x.test/me/permissions");
});
