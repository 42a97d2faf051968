// @vitest-environment jsdom
import { expect, it } from "vitest";
import { listIntegrationTypes } from "./choices";

it("offers people only to somebody who may read who there is", () => {
  expect(listIntegrationTypes(() => false)).toEqual(["tool", "agent", "channel", "role"]);
  expect(listIntegrationTypes((permission) => permission === "admin:users")).toContain("user");
});
