import { expect, it } from "vitest";
import { contrastRatio, isColour, readableTextColour } from "./contrast";

it("measures contrast", () => {
  expect(contrastRatio("#ffffff", "#000000")).toBeCloseTo(21);
  expect(contrastRatio("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
});

it("finds a text that can be read on any colour", () => {
  const parts = [0, 90, 130, 200, 255].map((part) => part.toString(16).padStart(2, "0"));
  const colours = parts.flatMap((red) => parts.flatMap((green) => parts.map((blue) => `#${red}${green}${blue}`)));
  expect(
    Math.min(...colours.map((colour) => contrastRatio(colour, readableTextColour(colour)))),
  ).toBeGreaterThanOrEqual(4.1);
});

it.each([null, undefined, "", "red", "#12345", "#1234567", "red;}"])("takes %s for no colour", (text) => {
  expect(isColour(text)).toBe(false);
});
