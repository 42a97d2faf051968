import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { permissionAreaName, permissionNameOf, permissionVerbName } from "./permissions";
import german from "./words.de.json";
import english from "./words.en.json";

const keys = [...readFileSync("../docs/reference/permissions.md", "utf8").matchAll(/^\| `([a-z_]+:[a-z_]+)`/gm)].map(
  ([, key]) => String(key),
);

it("has words for every permission of the server", () => {
  expect(keys.length).toBeGreaterThan(40);
  for (const key of keys) {
    const [area, verb] = key.split(":");
    for (const table of [english, german]) {
      expect(table, key).toHaveProperty(`area_${area}`);
      expect(table, key).toHaveProperty(`verb_${verb}`);
    }
  }
});

it("says what a permission is for", () => {
  expect(permissionNameOf("agents:write")).toBe("Agents: change");
  expect(permissionNameOf("api_keys:read")).toBe("Provider keys: see");
  expect(permissionAreaName("data_tables")).toBe("Data tables");
  expect(permissionVerbName("execute")).toBe("run");
});

it("leaves what is newer as it is", () => {
  expect(permissionNameOf("rockets:launch")).toBe("rockets: launch");
  expect(permissionNameOf("super_admin")).toBe("super_admin");
});
