import { expect, it } from "vitest";
import { readPeopleFilters } from "./filters";
import { hasPeopleFilters, toUserQuery } from "./user_query";

it("reads what belongs to the list and leaves out the rest", () => {
  expect(
    readPeopleFilters({ search: "ada", role: "viewer", state: "waiting", page: "3", person: "usr_1", x: 1 }),
  ).toEqual({
    search: "ada",
    role: "viewer",
    state: "waiting",
    page: 3,
    person: "usr_1",
  });
  expect(readPeopleFilters({ search: 5, role: "king", state: "asleep", page: -1, person: "" })).toEqual({});
});

it("an open panel is no filter", () => {
  expect(hasPeopleFilters({ person: "usr_1", page: 2 })).toBe(false);
  expect(hasPeopleFilters({ state: "active" })).toBe(true);
});

it("asks for those who wait, and for the active ones without them", () => {
  expect(toUserQuery({ state: "waiting" })).toEqual({ page: 1, is_pending: true });
  expect(toUserQuery({ state: "active", role: "viewer", page: 2 })).toEqual({
    page: 2,
    role: "viewer",
    status: "active",
    is_pending: false,
  });
  expect(toUserQuery({ search: "a" })).toEqual({ page: 1, search: "a" });
});
