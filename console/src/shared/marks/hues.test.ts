import { expect, test } from "vitest";
import { chooseHues, HUES, hueOf } from "./hues";

const ids = Array.from({ length: 40 }, (_, i) => `agt_${i}`);

test("the first of several has the hue of its mark", () => {
  for (const id of ids) expect(chooseHues([id]).get(id)).toBe(hueOf(id));
});

test("those beside each other differ", () => {
  const chosen = [...chooseHues(ids.slice(0, HUES.length)).values()];
  expect(new Set(chosen).size).toBe(HUES.length);
  expect(chosen).not.toContain("turn");
});

test("more than there are hues are grey", () => {
  const chosen = [...chooseHues(ids).values()];
  expect(chosen.filter((hue) => hue === "turn")).toHaveLength(ids.length - HUES.length);
});
