import { expect, it } from "vitest";
import { contrast, isColour, readableOn } from "./contrast";

it("measures contrast", () => {
  expect(contrast("#ffffff", "#000000")).toBeCloseTo(21);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
});

it("finds a text that can be read on any colour", () => {
  const parts = [0, 90, 130, 200, 255].map((part) => part.toString(16).padStart(2, "0"));
  const colours = parts.flatMap((red) => parts.flatMap((green) => parts.map((blue) => `#${red}${green}${blue}`)));
  expect(Math.min(...colours.map((colour) => contrast(colour, readableOn(colour))))).toBeGreaterThanOrEqual(4.1);
});

it.each([null, undefined, "", "red", "#12345", "#1234567", "red;}"])("takes %s for no colour", (text) => {
  expect(isColour(text)).toBe(false);
});
