// @vitest-environment jsdom
import { expect, it } from "vitest";
import { readApprovalSearch } from "./routes";

it("reads the address of the page", () => {
  expect(readApprovalSearch({ show: "decided", id: "apv_1", other: 1 })).toEqual({ show: "decided", id: "apv_1" });
  expect(readApprovalSearch({ show: "mine", id: 4 })).toEqual({});
});
