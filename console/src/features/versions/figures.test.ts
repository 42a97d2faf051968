import { expect, test } from "vitest";
import { choicesOf, ratingsOf } from "./choices";
import { verdictOf } from "./figures";

test("only a difference of more than a tenth is coloured", () => {
  expect(verdictOf("time", 100, [100, 110])).toBeUndefined();
  expect(verdictOf("time", 100, [100, 111])).toBe("better");
  expect(verdictOf("time", 111, [100, 111])).toBe("worse");
});

test("between the best and the worst nothing is coloured, nor is a single figure", () => {
  expect(verdictOf("cost", 2, [1, 2, 3])).toBeUndefined();
  expect(verdictOf("cost", 2, [2, undefined])).toBeUndefined();
});

test("more from the cache is better, and tokens are not judged", () => {
  expect(verdictOf("cached", 0.8, [0.8, 0.2])).toBe("better");
  expect(verdictOf("tokens", 900, [100, 900])).toBeUndefined();
});

test("the better reply is rated up and the others down", () => {
  expect(choicesOf(2)).toEqual([0, "same", 1]);
  expect(choicesOf(3)).toEqual([0, 1, 2, "same"]);
  expect(ratingsOf(1, 3)).toEqual(["negative", "positive", "negative"]);
  expect(ratingsOf("same", 2)).toEqual(["none", "none"]);
});
