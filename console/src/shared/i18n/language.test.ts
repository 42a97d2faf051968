import { expect, test } from "vitest";
import { separatorsOf } from "./language";

test("numbers are written as the language writes them", () => {
  expect(separatorsOf("en-GB")).toEqual({ thousands: ",", decimal: "." });
  expect(separatorsOf("de")).toEqual({ thousands: ".", decimal: "," });
});
