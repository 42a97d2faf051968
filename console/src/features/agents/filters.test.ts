import { describe, expect, it } from "vitest";
import { hasFilters, readFilters } from "./filters";

describe("filters and the address", () => {
  it("reads what belongs there", () => {
    expect(readFilters({ search: "desk", status: "draft", page: 3 })).toEqual({
      search: "desk",
      status: "draft",
      page: 3,
    });
    expect(readFilters({ search: 42 })).toEqual({ search: "42" });
  });
  it("leaves out what does not", () => {
    expect(readFilters({ search: "", status: "wild", page: -1, create: "yes", other: 1 })).toEqual({});
    expect(hasFilters(readFilters({ page: 2 }))).toBe(false);
  });
});
