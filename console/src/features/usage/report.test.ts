import { describe, expect, it } from "vitest";
import { readPriceFilters, readUsageFilters } from "./filters";
import { costOf, courseOf, rankGroups, restOf, stepsOf, toGroupIds, type UsageRow } from "./report";

const NOW = Date.parse("2026-11-19T01:30:00Z");
const row = (day: number, agent: string | null, usd: number, tokens = 10, part: object = {}) =>
  ({
    start: `2026-11-${String(day).padStart(2, "0")}T00:00:00.000000Z`,
    group: { agent },
    estimated_cost_usd: usd,
    total_tokens: tokens,
    chat_requests: tokens ? 1 : 0,
    unpriced_tokens: 0,
    ...part,
  }) as unknown as UsageRow;
const ROWS = [row(17, "a", 1), row(18, "a", 2), row(18, "b", 5), row(18, null, 0, 3), row(18, "files", 0, 0)];

describe("the steps of a period", () => {
  it("end with the current hour or day of the server", () => {
    const day = stepsOf("24h", NOW);
    expect([day.granularity, day.starts.length, day.starts.at(-1)]).toEqual(["hour", 24, "2026-11-19T01:00:00.000Z"]);
    const month = stepsOf("30d", NOW);
    expect([month.granularity, month.from]).toEqual(["day", "2026-10-21T00:00:00.000Z"]);
    expect(month.starts.at(-1)).toBe("2026-11-19T00:00:00.000Z");
    expect(month.before).toBe("2026-09-21T00:00:00.000Z");
  });
});

describe("groups", () => {
  it("come by size, and those that used nothing of it are left out", () => {
    expect(rankGroups(ROWS, "agent", "cost").map(({ id }) => id)).toEqual(["b", "a", null]);
    expect(rankGroups(ROWS, "agent", "chats").map(({ id }) => id)).toEqual(["a", "b", null]);
  });
  it("are asked for by id, those without one by a word", () => {
    expect(toGroupIds(rankGroups(ROWS, "agent", "cost"))).toBe("b,a,null");
  });
});

describe("the course of a group", () => {
  const starts = stepsOf("7d", NOW).starts;
  it("is 0 where it used nothing", () => {
    expect(courseOf(ROWS, "agent", "a", "cost", starts)).toEqual([0, 0, 0, 0, 1, 2, 0]);
    expect(courseOf(ROWS, "agent", null, "tokens", starts)).toEqual([0, 0, 0, 0, 0, 3, 0]);
  });
  it("leaves the rest to the others", () => {
    const all = courseOf(ROWS, null, null, "cost", starts);
    expect(all).toEqual([0, 0, 0, 0, 1, 7, 0]);
    expect(restOf(all, [courseOf(ROWS, "agent", "a", "cost", starts)])).toEqual([0, 0, 0, 0, 0, 5, 0]);
    expect(restOf([0.3], [[0.1], [0.2]])).toEqual([0]);
  });
});

describe("a cost", () => {
  it("is unknown, known in part or known, and 0 only if everything has a price", () => {
    expect(costOf(row(1, "a", 0, 10, { unpriced_tokens: 10 }))).toEqual({ usd: null, isPart: true });
    expect(costOf(row(1, "a", 2, 10, { unpriced_tokens: 4 }))).toEqual({ usd: 2, isPart: true });
    expect(costOf(row(1, "a", 0))).toEqual({ usd: 0, isPart: false });
  });
});

describe("the address", () => {
  it("holds what differs from the defaults, and nothing else", () => {
    expect(readUsageFilters({ period: "7d", by: "model", what: "tokens", page: "2", x: 1 })).toEqual({
      period: "7d",
      by: "model",
      what: "tokens",
      page: 2,
    });
    expect(readUsageFilters({ period: "30d", by: "agent", what: "cost", page: 1 })).toEqual({});
    expect(readPriceFilters({ source: "list", search: 4 })).toEqual({ source: "list", search: "4" });
    expect(readPriceFilters({ source: "tenant" })).toEqual({});
  });
});
