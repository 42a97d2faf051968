import { expect, it } from "vitest";
import { ago, money } from "../time";
import { render } from "./words";

it("puts values and plurals into texts", () => {
  const text = "{count, plural, one {# agent} other {# agents}} of {name}";
  expect(render(text, { count: 1, name: "Ada" })).toBe("1 agent of Ada");
  expect(render(text, { count: 1200, name: "{count}" })).toBe("1,200 agents of {count}");
});

it("says times and money in few words", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  expect(ago("2026-11-16T11:38:00Z", now)).toBe("22 min");
  expect(ago("2026-09-01T12:00:00Z", now)).toBe("1 Sept");
  expect([money(0.0093), money(0.5), money(0)]).toEqual(["$0.0093", "$0.50", "$0.00"]);
});
