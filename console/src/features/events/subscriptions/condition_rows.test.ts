import { expect, it } from "vitest";
import {
  type Comparison,
  emptyCondition,
  filtersFromRows,
  findRowProblem,
  fitsConditionRows,
  listConditions,
  listFieldPaths,
  readScalar,
  writeScalar,
} from "./condition_rows";

it("writes conditions as rows and reads the same from them", () => {
  const filters = {
    form_id: "frm_1",
    total: { gte: 100, lt: 500 },
    reason: ["broken", "wrong, lamp", 'said "no", twice', '"', " spaced ", "", "7", 7],
    paid: true,
    code: "007",
    number: "12",
    email: { exists: false },
    note: { contains: "urgent" },
    gone: null,
  };
  expect(filtersFromRows(listConditions(filters))).toEqual(filters);
});

it("joins several comparisons of one field, and leaves out a row without one", () => {
  const row = emptyCondition();
  const rows = [
    { ...row, path: "total", value: "5" },
    { ...row, path: "total", comparison: "ne" as const, value: "7" },
    row,
  ];
  expect(filtersFromRows(rows)).toEqual({ total: { eq: 5, ne: 7 } });
});

it("keeps texts texts", () => {
  for (const value of ["12", "true", "null", '"quoted"', "plain", "", "-1.5", "1e3"])
    expect(readScalar(writeScalar(value))).toBe(value);
  expect([readScalar("12"), readScalar("false"), readScalar("0x1")]).toEqual([12, false, "0x1"]);
});

it("offers the fields of the schema and of the last events", () => {
  const kind = { schema: { properties: { form_id: {}, answers: { properties: { total: {} } } } } } as never;
  expect(listFieldPaths(kind, [{ data: { form_id: "f", extra: { a: 1 } } }])).toEqual([
    "form_id",
    "answers",
    "answers.total",
    "extra.a",
  ]);
});

it("reads values between commas, of which one in quotes may have some", () => {
  const valuesOf = (value: string) => filtersFromRows([{ key: 1, path: "at", comparison: "in", value }]).at;
  expect(valuesOf('"Smith, John", Ada,7,')).toEqual(["Smith, John", "Ada", 7]);
  expect(valuesOf('5" pipe, "a" b, c')).toEqual(['5" pipe', '"a" b', "c"]);
});

it.each([
  { tags: { eq: ["a", "b"] } },
  { owner: { id: 7 } },
  { tags: { contains: { id: 7 } } },
  { paid: { exists: "no" } },
  { total: {} },
])("knows that rows cannot say %j", (filters) => expect(fitsConditionRows(filters)).toBe(false));

it("says which rows cannot be stored beside those before them", () => {
  const problemsOf = (...texts: [path: string, comparison: Comparison][]) => {
    const rows = texts.map(([path, comparison], key) => ({ key, path, comparison, value: "x" }));
    return rows.map((row) => findRowProblem(rows, row));
  };
  const ok = undefined;
  expect(problemsOf(["total", "gt"], ["total", "lt"], ["name", "ne"])).toEqual([ok, ok, ok]);
  expect(problemsOf(["name", "ne"], ["name ", "ne"], ["name", "eq"])).toEqual([ok, "saidTwice", ok]);
  expect(problemsOf(["name", "in"], ["name", "ne"])).toEqual([ok, "besideList"]);
  expect(problemsOf(["name", "ne"], ["name", "in"], ["", "eq"])).toEqual([ok, "besideList", "withoutField"]);
});
