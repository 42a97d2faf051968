import { expect, it } from "vitest";
import {
  formatDuration,
  formatMoney,
  formatTimeAgo,
  formatTimeLeft,
  formatTimeOfDay,
  formatTimeSince,
  localizeTimes,
} from "../time";
import { renderText } from "./words";

it("puts values and plurals into texts", () => {
  const text = "{count, plural, one {# agent} other {# agents}} of {name}";
  expect(renderText(text, { count: 1, name: "Ada" })).toBe("1 agent of Ada");
  expect(renderText(text, { count: 1200, name: "{count}" })).toBe("1,200 agents of {count}");
});

it("says times and money in few words", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  expect(formatTimeSince("2026-11-16T11:38:00Z", now)).toBe("22 min");
  expect(formatTimeSince("2026-09-01T12:00:00Z", now)).toBe("1 Sept");
  expect([48, 1240, 200_000, 18_120_000].map(formatDuration)).toEqual(["48 ms", "1.24 s", "3 min 20 s", "5 h 2 min"]);
  const pasts = ["2026-11-16T11:59:50Z", "2026-11-16T11:38:00Z", "2026-09-01T12:00:00Z"];
  expect(pasts.map((at) => formatTimeAgo(at, now))).toEqual(["just now", "22 min ago", "1 Sept"]);
  // What works for seven days has seven days left, also a minute later.
  expect(formatTimeLeft("2026-11-23T11:59:00Z", now)).toBe("7 d");
  const rests = [29_500, 2_280_000, 18_000_000, 200_000_000, -1];
  expect(rests.map((ms) => formatTimeLeft(new Date(now + ms).toISOString(), now))).toEqual([
    "30 s",
    "38 min",
    "5 h",
    "2 d",
    "over",
  ]);
  expect([formatMoney(0.0093), formatMoney(0.5), formatMoney(0)]).toEqual(["$0.0093", "$0.50", "$0.00"]);
});

it("shows moments that the server names in UTC in the time of this place", () => {
  const here = formatTimeOfDay("2026-11-18T08:30:00Z");
  expect(localizeTimes("Decide it before 2026-11-18 08:30 UTC.")).toBe(`Decide it before ${here}.`);
  expect(localizeTimes("It begins at 2026-11-18T08:30:59.123Z")).toBe(`It begins at ${here}`);
  expect(localizeTimes("Version 2026-11-18, 08:30")).toBe("Version 2026-11-18, 08:30");
});
