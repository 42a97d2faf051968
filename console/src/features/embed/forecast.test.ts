import { expect, test } from "vitest";
import { forecastMonthEnd } from "./forecast";

const at = (day: number) => new Date(Date.UTC(2026, 10, day));

test("half of the tokens after ten days are used up after twenty", () => {
  expect(forecastMonthEnd(500, 1000, at(11))).toEqual(at(21));
});

test("tokens that last, or that nobody uses, have no end", () => {
  expect(forecastMonthEnd(100, 1000, at(11))).toBeUndefined();
  expect(forecastMonthEnd(0, 1000, at(11))).toBeUndefined();
});

test("what is used up is used up now, and a first hour is no trend", () => {
  expect(forecastMonthEnd(1000, 1000, at(11))).toEqual(at(11));
  expect(forecastMonthEnd(20, 1000, new Date(Date.UTC(2026, 10, 1, 1)))).toBeUndefined();
});
