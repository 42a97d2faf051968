import { describe, expect, it } from "vitest";
import { chooseLabelledPlaces, computeTicks, drawSvgPath, findLonePoints } from "./scale";

describe("the scale of a chart", () => {
  it("ends at a round number above the largest value", () => {
    expect(computeTicks(0)).toEqual([0, 1]);
    expect(computeTicks(7)).toEqual([0, 5, 10]);
    expect(computeTicks(60)).toEqual([0, 20, 40, 60]);
    expect(computeTicks(1900).at(-1)).toBe(2000);
  });
  it("labels few places, the last one among them", () => {
    expect(chooseLabelledPlaces(7)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(chooseLabelledPlaces(24)).toEqual([3, 7, 11, 15, 19, 23]);
    expect(chooseLabelledPlaces(90)).toHaveLength(7);
  });
  it("interrupts a line where nothing is known", () => {
    const path = drawSvgPath(
      [1, 2, null, 3],
      (at) => at,
      (value) => value,
    );
    expect(path.match(/M/g)).toHaveLength(2);
    expect(path.endsWith("M3.00 3.00L3.00 3.00")).toBe(true);
    expect(drawSvgPath([null, null], Number, Number)).toBe("");
    expect(findLonePoints([4, null, 2, 3, null, 5])).toEqual([4, null, null, null, null, 5]);
  });
});
