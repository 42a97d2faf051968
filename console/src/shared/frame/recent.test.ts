// @vitest-environment jsdom
import { beforeEach, expect, test } from "vitest";
import { dropRecent, keepRecent, readRecent } from "./recent";

beforeEach(() => localStorage.clear());
const titles = () => readRecent("usr").map((place) => place.title);

test("an object is one place, at the tab that was seen last", () => {
  keepRecent("usr", "/agents/agt_1", "Clerk · Build");
  keepRecent("usr", "/agents/agt_2", "Other · Build");
  keepRecent("usr", "/agents/agt_1/knowledge", "Clerk · Knowledge");
  keepRecent("usr", "/agents", "Agents");
  expect(titles()).toEqual(["Agents", "Clerk · Knowledge", "Other · Build"]);
  expect(readRecent("usr")[1]?.to).toBe("/agents/agt_1/knowledge");
});

test("Home and places without a name are none", () => {
  keepRecent("usr", "/", "Home");
  keepRecent("usr", "/traces/t", "");
  expect(titles()).toEqual([]);
});

test("a refused page is no place", () => {
  keepRecent("usr", "/models", "Models");
  keepRecent("usr", "/agents", "Agents");
  dropRecent("usr", "/models");
  dropRecent("usr", "/inbox");
  expect(titles()).toEqual(["Agents"]);
});
