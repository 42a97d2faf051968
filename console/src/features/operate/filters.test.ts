import { expect, it } from "vitest";
import { readJobFilters, readOrganizationFilters } from "./filters";
import { toJobQuery, toOrganizationQuery } from "./list_queries";

it("reads what belongs to the jobs and leaves out the rest", () => {
  expect(readJobFilters({ status: "running", queue: "mail", page: "2", id: "job_1", x: 1 })).toEqual({
    status: "running",
    queue: "mail",
    page: 2,
    id: "job_1",
  });
  expect(readJobFilters({ status: "failed", queue: "", page: 1 })).toEqual({});
});

it("asks for failed jobs unless others are wanted", () => {
  expect(toJobQuery({})).toEqual({ page: 1, status: "failed" });
  expect(toJobQuery({ status: "all", queue: "mail", page: 3 })).toEqual({ page: 3, queue: "mail" });
});

it("reads the filters of organizations and asks for them by name", () => {
  const filters = readOrganizationFilters({ search: "acme", plan: "team", id: "ten_1", page: 0 });
  expect(filters).toEqual({ search: "acme", plan: "team", id: "ten_1" });
  expect(toOrganizationQuery(filters)).toEqual({ page: 1, sort: "name", search: "acme", plan: "team" });
  expect(readOrganizationFilters({ plan: "gold" })).toEqual({});
});
