import { expect, it } from "vitest";
import { hasAuditFilters, toAuditQuery } from "./audit_query";
import { readAuditFilters } from "./filters";

it("reads what belongs to the log and leaves out the rest", () => {
  expect(
    readAuditFilters({
      action: "auth.*",
      actor: "usr_1",
      refused: true,
      from: "2026-11-18",
      page: "2",
      entry: "aud_1",
    }),
  ).toEqual({ action: "auth.*", actor: "usr_1", refused: true, from: "2026-11-18", page: 2, entry: "aud_1" });
  expect(
    readAuditFilters({ action: 5, actor: "", refused: "true", from: "yesterday", to: "2026-99-99", page: -1, x: 1 }),
  ).toEqual({});
});

it("an open panel and a page are no filters", () => {
  expect(hasAuditFilters({ entry: "aud_1", page: 2 })).toBe(false);
  expect(hasAuditFilters({ refused: true })).toBe(true);
});

it("asks for a period from the beginning of its first day to the end of its last", () => {
  const { from, to } = toAuditQuery({ from: "2026-11-17", to: "2026-11-18" });
  expect(Date.parse(to ?? "") - Date.parse(from ?? "")).toBe(2 * 86_400_000 - 1);
  expect(new Date(from ?? "").getHours()).toBe(0);
});

it("asks in the words of the API", () =>
  expect(toAuditQuery({ action: "auth.*", actor: "usr_1", subject: "agt_1", request: "cor_1", refused: true })).toEqual(
    {
      page: 1,
      action: "auth.*",
      actor_id: "usr_1",
      subject_id: "agt_1",
      correlation_id: "cor_1",
      success: false,
    },
  ));
