// @vitest-environment jsdom
import { beforeEach, expect, test } from "vitest";
import { dropRecentPlace, keepRecentPlace, readRecentPlaces } from "./recent";

beforeEach(() => localStorage.clear());
const titles = () => readRecentPlaces("usr").map((place) => place.title);

test("an object is one place, at the tab that was seen last", () => {
  keepRecentPlace("usr", "/agents/agt_1", "Clerk · Build");
  keepRecentPlace("usr", "/agents/agt_2", "Other · Build");
  keepRecentPlace("usr", "/agents/agt_1/knowledge", "Clerk · Knowledge");
  keepRecentPlace("usr", "/agents", "Agents");
  expect(titles()).toEqual(["Agents", "Clerk · Knowledge", "Other · Build"]);
  expect(readRecentPlaces("usr")[1]?.to).toBe("/agents/agt_1/knowledge");
});

test("Home and places without a name are none", () => {
  keepRecentPlace("usr", "/", "Home");
  keepRecentPlace("usr", "/traces/t", "");
  expect(titles()).toEqual([]);
});

test("a refused page is no place", () => {
  keepRecentPlace("usr", "/settings/models", "Models");
  keepRecentPlace("usr", "/agents", "Agents");
  dropRecentPlace("usr", "/settings/models");
  dropRecentPlace("usr", "/inbox");
  expect(titles()).toEqual(["Agents"]);
});
