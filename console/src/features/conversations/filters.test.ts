import { expect, it } from "vitest";
import { readConversationFilters } from "./filters";
import { hasConversationFilters, toConversationQuery } from "./list_query";
import { filtersFromAddress, filtersToAddress } from "./view_address";

const NOW = Date.parse("2026-11-19T12:00:00Z");

it("reads every filter from the address and leaves out the rest", () => {
  const address = {
    search: "parcel",
    show: "look",
    period: "7d",
    agent: "agt_1",
    version: "4",
    channel: "public",
    person: "usr_1",
    rating: "negative",
    outcome: "failed",
    cost: "0.5",
    status: "closed",
    page: "3",
  };
  expect(readConversationFilters({ ...address, tab: "x" })).toEqual({ ...address, version: 4, cost: 0.5, page: 3 });
  const wrong = { search: "", show: "all", period: "1y", channel: "fax", rating: 5, cost: "-1", page: 1, version: 2 };
  expect(readConversationFilters(wrong)).toEqual({});
});

it("takes digits as a search and drops a version without its agent", () => {
  expect(readConversationFilters({ search: 10482, version: 4 })).toEqual({ search: "10482" });
});

it("takes two days, unless a period says it all", () => {
  const days = { from: "2026-11-01", to: "2026-11-03" };
  expect(readConversationFilters(days)).toEqual(days);
  expect(readConversationFilters({ ...days, period: "24h" })).toEqual({ period: "24h" });
  expect(readConversationFilters({ from: "yesterday", to: "2026-13-41" })).toEqual({});
});

it("asks the list and the export for the same", () => {
  expect(toConversationQuery({ show: "look", period: "24h", outcome: "fine", cost: 0.5, page: 2 }, NOW)).toEqual({
    needs_look: true,
    from: "2026-11-18T12:00:00.000Z",
    failed: false,
    min_cost_usd: 0.5,
  });
  expect(toConversationQuery({ version: 3 }, NOW)).toEqual({});
  expect(toConversationQuery({ agent: "agt_1", version: 3, person: "usr_1" }, NOW)).toEqual({
    agent_id: "agt_1",
    version: 3,
    user_id: "usr_1",
  });
});

it("means whole days of this place, the last one with its evening", () => {
  const { from, to } = toConversationQuery({ from: "2026-11-01", to: "2026-11-03" }, NOW);
  expect(new Date(from ?? "")).toEqual(new Date(2026, 10, 1));
  expect(new Date(to ?? "")).toEqual(new Date(2026, 10, 4));
});

it("a page is no filter", () => {
  expect(hasConversationFilters({ page: 2 })).toBe(false);
  expect(hasConversationFilters({ show: "look" })).toBe(true);
});

it("an address gives back the filters that it was made of, on the first page", () => {
  const filters = { search: "a & b", show: "look", agent: "agt_1", version: 2, cost: 0.25, period: "30d" } as const;
  expect(filtersFromAddress(filtersToAddress({ ...filters, page: 4 }))).toEqual(filters);
  expect(filtersToAddress({ page: 4 })).toBe("");
});
