import { expect, it } from "vitest";
import {
  createAddressReader,
  readAnyTextUpTo,
  readCalendarDay,
  readOneOf,
  readPageNumber,
  readText,
  readTextUpTo,
  readTrueFlag,
  readWholeNumberFrom,
} from "./address";

type Filters = { search?: string; kind?: "new" | "old"; page?: number; create?: boolean };
const readFilters = createAddressReader<Filters>({
  search: readAnyTextUpTo(10),
  kind: readOneOf(["new", "old"]),
  page: readPageNumber,
  create: readTrueFlag,
});

it("reads what belongs to the list and takes the value of the rest", () => {
  const address = { search: "desk", kind: "old", page: "3", create: true };
  expect(readFilters({ ...address, other: 1 })).toEqual({ ...address, page: 3 });
  const unset = { search: undefined, kind: undefined, page: undefined, create: undefined };
  expect(readFilters({ search: "", kind: "wild", page: 1, create: "yes", other: 1 })).toStrictEqual(unset);
});

it("takes digits as a search, but not as an id, and cuts both", () => {
  expect(readAnyTextUpTo(5)(1234567)).toBe("12345");
  expect(readAnyTextUpTo(5)(null)).toBeUndefined();
  expect(readTextUpTo(3)("agt_1")).toBe("agt");
  expect([readText("agt_1"), readText(""), readText(5)]).toEqual(["agt_1", undefined, undefined]);
});

it("leaves out the value that counts without any", () => {
  const readPeriod = readOneOf(["7d", "30d"], "7d");
  expect([readPeriod("30d"), readPeriod("7d"), readPeriod("1y")]).toEqual(["30d", undefined, undefined]);
});

it("takes whole numbers that a page or a version can have", () => {
  expect(["2", 1, -1, 2.5, "x", 2 ** 31].map(readPageNumber)).toEqual([2, ...Array(5).fill(undefined)]);
  expect(readWholeNumberFrom(1)("1")).toBe(1);
});

it("takes days that exist", () => {
  expect(readCalendarDay("2026-11-18")).toBe("2026-11-18");
  expect(["yesterday", "2026-13-41", 20261118].map(readCalendarDay)).toEqual(Array(3).fill(undefined));
});
