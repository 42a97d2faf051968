import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { translateProblem, translateRefusal } from "./refusals";
import german from "./words.de.json";

const table: Record<string, string> = german;

it("says common refusals in the language of the console, and the others as the server does", () => {
  expect(translateRefusal("agent_archived", "The agent is archived.", {}, table)).toBe(german.agent_archived);
  const forbidden = (reason: string) => translateRefusal("forbidden", "No.", { reason }, table);
  expect(forbidden("not_an_approver")).toBe(german["forbidden.not_an_approver"]);
  expect(forbidden("newer_than_this_console")).toBe("No.");
  for (const reason of ["spent", "reserved", "unaffordable"])
    expect(translateRefusal("budget_exceeded", "Over.", { reason }, table)).toBe(table[`budget_exceeded.${reason}`]);
  expect(translateRefusal("rate_limited", "Wait.", { retry_after: 12 }, table)).toContain("in 12 Sekunden");
  expect(translateRefusal("rate_limited", "Wait.", {}, table)).toBe("Wait.");
  expect(translateRefusal("agent_archived", "The agent is archived.")).toBe("The agent is archived.");
});

it("says what is wrong with a field", () => {
  expect(translateProblem("must be between 1 and 2,000", table)).toBe("muss zwischen 1 und 2,000 liegen");
  expect(translateProblem("must begin with https://", table)).toBe("must begin with https://");
  expect(translateProblem("is required")).toBe("is required");
  expect(translateProblem("must have at least 8 characters, a number", table)).toBe(
    "braucht mindestens 8 Zeichen, eine Ziffer",
  );
});

it("translates no code that the server does not have", () => {
  const reference = readFileSync("../docs/reference/errors.md", "utf8");
  const codes = Object.keys(german).flatMap((key) => /^([a-z_]+)(\.|$)/.exec(key)?.[1] ?? []);
  const unknown = codes.filter((code) => code !== "server_gone" && !reference.includes(`\`${code}\``));
  expect(codes.length).toBeGreaterThan(60);
  expect(unknown).toEqual([]);
});
