import { expect, it } from "vitest";
import { duration, money, timeLeft, timeOfDay, timeSince, withLocalTimes } from "../time";
import { render } from "./words";

it("puts values and plurals into texts", () => {
  const text = "{count, plural, one {# agent} other {# agents}} of {name}";
  expect(render(text, { count: 1, name: "Ada" })).toBe("1 agent of Ada");
  expect(render(text, { count: 1200, name: "{count}" })).toBe("1,200 agents of {count}");
});

it("says times and money in few words", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  expect(timeSince("2026-11-16T11:38:00Z", now)).toBe("22 min");
  expect(timeSince("2026-09-01T12:00:00Z", now)).toBe("1 Sept");
  expect([48, 1240, 200_000, 18_120_000].map(duration)).toEqual(["48 ms", "1.24 s", "3 min 20 s", "5 h 2 min"]);
  const rests = [29_500, 2_280_000, 18_000_000, 200_000_000, -1];
  expect(rests.map((ms) => timeLeft(new Date(now + ms).toISOString(), now))).toEqual([
    "30 s",
    "38 min",
    "5 h",
    "2 d",
    "over",
  ]);
  expect([money(0.0093), money(0.5), money(0)]).toEqual(["$0.0093", "$0.50", "$0.00"]);
});

it("shows moments that the server names in UTC in the time of this place", () => {
  const here = timeOfDay("2026-11-18T08:30:00Z");
  expect(withLocalTimes("Decide it before 2026-11-18 08:30 UTC.")).toBe(`Decide it before ${here}.`);
  expect(withLocalTimes("It begins at 2026-11-18T08:30:59.123Z")).toBe(`It begins at ${here}`);
  expect(withLocalTimes("Version 2026-11-18, 08:30")).toBe("Version 2026-11-18, 08:30");
});
