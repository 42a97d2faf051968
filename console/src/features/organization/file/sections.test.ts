import { expect, it } from "vitest";
import { readExportWarnings } from "./sections";

const sentence = "webhooks is left out: this needs the permission webhooks:read.";

it.each([
  ["plain", `retinue: 1\nagents: {}\nwarnings:\n- ${sentence}\n`],
  ["quoted", `retinue: 1\nwarnings:\n- '${sentence}'\n`],
])("finds the %s warnings at the end of YAML", (_, text) =>
  expect(readExportWarnings(text, "yaml")).toEqual([sentence]),
);

it("takes no text of an object for a warning", () =>
  expect(
    readExportWarnings("retinue: 1\nagents:\n  A:\n    system_prompt: |\n      warnings:\n      - none\n", "yaml"),
  ).toEqual([]));

it("reads the warnings of JSON", () => {
  expect(readExportWarnings(JSON.stringify({ retinue: 1, warnings: [sentence] }), "json")).toEqual([sentence]);
  expect(readExportWarnings('{"retinue": 1}', "json")).toEqual([]);
});
