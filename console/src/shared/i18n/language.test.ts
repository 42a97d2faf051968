import { expect, test } from "vitest";
import { findNumberSeparators } from "./language";

test("numbers are written as the language writes them", () => {
  expect(findNumberSeparators("en-GB")).toEqual({ thousands: ",", decimal: "." });
  expect(findNumberSeparators("de")).toEqual({ thousands: ".", decimal: "," });
});
