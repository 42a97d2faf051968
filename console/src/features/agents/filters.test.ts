// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { readAgentFilters } from "./filters";
import { hasAgentFilters } from "./queries";

describe("filters and the address", () => {
  it("reads what belongs there", () => {
    expect(readAgentFilters({ search: "desk", status: "draft", page: 3 })).toEqual({
      search: "desk",
      status: "draft",
      page: 3,
    });
    expect(readAgentFilters({ search: 42 })).toEqual({ search: "42" });
  });
  it("leaves out what does not", () => {
    expect(readAgentFilters({ search: "", status: "wild", page: -1, create: "yes", other: 1 })).toEqual({});
    expect(hasAgentFilters(readAgentFilters({ page: 2 }))).toBe(false);
  });
});
