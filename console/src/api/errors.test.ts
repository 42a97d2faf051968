import { expect, it } from "vitest";
import { asApiError, readApiError } from "./errors";

const refused = (details: Record<string, unknown>) =>
  readApiError(
    Response.json(
      { error: { code: "validation_error", message: "The request is not valid.", details } },
      { status: 422 },
    ),
  );

it("says which field is wrong and why", async () =>
  expect((await refused({ base_url: "must begin with https://" })).message).toBe("Base url must begin with https://."));
it("says it of every field, and leaves whole sentences as they are", async () =>
  expect((await refused({ name: "is required", "rules.0": "No such rule." })).message).toBe(
    "Name is required. No such rule.",
  ));
it("keeps the general sentence where no field is named", async () =>
  expect((await refused({})).message).toBe("The request is not valid."));
it("tells a part of the page that did not load from other faults", () => {
  expect(asApiError(new TypeError("Failed to fetch dynamically imported module: /x.js")).code).toBe("part_missing");
  expect(asApiError(new Error("Unable to preload CSS for /x.css")).code).toBe("part_missing");
  expect(asApiError(new Error("x is not a function")).code).toBe("unexpected");
});
