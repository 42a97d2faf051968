// @vitest-environment jsdom
import { expect, it } from "vitest";
import type { Tool } from "../queries";
import type { Definition } from "./definition";
import { runTargetOf, trialOf } from "./run_target";

const entered = {
  type: "rest_api",
  config: { base_url: "https://x.test" },
  authType: "none",
  inputSchema: undefined,
} as unknown as Definition;
const tool = {
  tool_type: "rest_api",
  config: { base_url: "https://old.test" },
  credential_id: null,
} as unknown as Tool;

it("tries what is entered, without what a run does not need", () => {
  expect(trialOf(entered)).toEqual({ tool_type: "rest_api", config: entered.config, auth_type: "none" });
});

it("takes the credential that the tool has already", () => {
  const authType = "bearer" as Definition["authType"];
  expect(trialOf({ ...entered, authType }, "crd_1")?.auth_config).toEqual({ credential_id: "crd_1" });
  expect(trialOf({ ...entered, authType })).toBeUndefined();
});

it("runs unsaved changes where the person may, else the saved tool and says so", () => {
  const may = runTargetOf(tool, entered, { hasChanges: true, mayTry: true });
  expect([may.trial?.config, may.leavesOut]).toEqual([entered.config, false]);
  const mayNot = runTargetOf(tool, entered, { hasChanges: true, mayTry: false });
  expect([mayNot.trial, mayNot.described, mayNot.leavesOut]).toEqual([undefined, tool, true]);
});
