import { expect, it } from "vitest";
import {
  countActions,
  countPlanned,
  describeFieldDifference,
  groupBySection,
  listFileProblems,
  type PlannedObject,
} from "./plan_summary";

const planned = (section: string, name: string, action: PlannedObject["action"]): PlannedObject => ({
  section,
  name,
  action,
  diff: [],
});
const objects = [
  planned("tools", "weather", "unchanged"),
  planned("agents", "Desk", "update"),
  planned("agents", "Sales", "create"),
  planned("forms", "Order", "delete"),
];

it("counts what is made, changed, deleted and kept", () => {
  const counts = countActions(objects);
  expect(counts).toEqual({ create: 1, update: 1, delete: 1, unchanged: 1 });
  expect(countPlanned(counts)).toBe(3);
});

it("groups what changes by section and leaves out what stays", () =>
  expect(groupBySection(objects).map(([section, found]) => [section, found.map(({ name }) => name)])).toEqual([
    ["agents", ["Desk", "Sales"]],
    ["forms", ["Order"]],
  ]));

it("shows long texts by lines", () => {
  const change = describeFieldDifference({
    path: "system_prompt",
    from: "You help.\nBe brief.",
    to: "You help.\nBe kind.",
  });
  expect(change).toMatchObject({ label: "system prompt", shape: "lines" });
});

it("shows other values as before and after", () => {
  expect(describeFieldDifference({ path: "web_search.max_results", from: 5, to: 10 })).toMatchObject({
    label: "web search · max results",
    shape: "value",
    from: "5",
    to: "10",
  });
  expect(describeFieldDifference({ path: "columns", to: [{ name: "number" }] })).toMatchObject({
    from: "none",
    to: '{"name":"number"}',
  });
});

it("lists what is wrong with each object, and nothing of other refusals", () => {
  expect(listFileProblems({ "agents/Support: tools.0.tool": "@tools/x names nothing" })).toEqual([
    { place: "agents/Support: tools.0.tool", text: "@tools/x names nothing" },
  ]);
  expect(listFileProblems({ required: "agents:write", your_role: "viewer" })).toEqual([]);
});
