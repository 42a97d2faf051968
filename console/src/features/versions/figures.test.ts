import { expect, test } from "vitest";
import { listColumnChoices, ratingsForChoice } from "./choices";
import { compareFigure } from "./figures";

test("only a difference of more than a tenth is coloured", () => {
  expect(compareFigure("time", 100, [100, 110])).toBeUndefined();
  expect(compareFigure("time", 100, [100, 111])).toBe("better");
  expect(compareFigure("time", 111, [100, 111])).toBe("worse");
});

test("between the best and the worst nothing is coloured, nor is a single figure", () => {
  expect(compareFigure("cost", 2, [1, 2, 3])).toBeUndefined();
  expect(compareFigure("cost", 2, [2, undefined])).toBeUndefined();
});

test("more from the cache is better, and tokens are not judged", () => {
  expect(compareFigure("cached", 0.8, [0.8, 0.2])).toBe("better");
  expect(compareFigure("tokens", 900, [100, 900])).toBeUndefined();
});

test("the better reply is rated up and the others down", () => {
  expect(listColumnChoices(2)).toEqual([0, "same", 1]);
  expect(listColumnChoices(3)).toEqual([0, 1, 2, "same"]);
  expect(ratingsForChoice(1, 3)).toEqual(["negative", "positive", "negative"]);
  expect(ratingsForChoice("same", 2)).toEqual(["none", "none"]);
});
