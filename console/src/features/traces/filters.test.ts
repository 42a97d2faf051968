import { expect, it } from "vitest";
import { readTraceFilters } from "./filters";
import { hasTraceFilters, toTraceQuery } from "./trace_query";

const NOW = Date.parse("2026-11-19T12:00:00Z");

it("reads what belongs to the list and leaves out the rest", () => {
  const address = { show: "look", kind: "job", period: "7d", agent: "agt_1", sort: "slowest", page: "2" };
  expect(readTraceFilters({ ...address, step: "x" })).toEqual({ ...address, page: 2 });
  expect(readTraceFilters({ show: "x", kind: "model", period: "1y", agent: 5, sort: "name", page: 0 })).toEqual({});
});

it("asks for what failed in a period", () => {
  expect(toTraceQuery({ show: "look", period: "1h", page: 3 }, NOW)).toEqual({
    page: 3,
    status: "error",
    from: "2026-11-19T11:00:00.000Z",
  });
});

it("asks for the slowest of a day, as the server would read all of them", () => {
  expect(toTraceQuery({ sort: "slowest" }, NOW)).toEqual({
    page: 1,
    sort: "-duration_ms",
    from: "2026-11-18T12:00:00.000Z",
  });
});

it("an order is no filter", () => {
  expect(hasTraceFilters({ sort: "slowest", page: 2 })).toBe(false);
  expect(hasTraceFilters({ kind: "job" })).toBe(true);
});
