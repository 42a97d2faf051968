import { expect, it } from "vitest";
import { stepsFor } from "./steps";

const open = { model: false, agent: false, knowledge: false, colleague: false, embed: false, budget: false };

it("offers the first steps that a person may take, and no others", () => {
  const viewer = ["api_keys:read", "agents:read", "embed_keys:read", "usage:read"];
  const developer = [...viewer, "agents:write", "embed_keys:write"];
  const with_ = (held: string[]) => stepsFor(open, (permission) => held.includes(permission));
  expect(with_(viewer)).toEqual([]);
  expect(with_(developer)).toEqual(["agent", "knowledge", "embed"]);
  expect(with_([...developer, "api_keys:write", "admin:users", "usage:write"])).toHaveLength(6);
  expect(stepsFor({ ...open, budget: null }, () => true)).not.toContain("budget");
});
