// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";
import { ApiError } from "../api/errors";
import { groupFieldProblems, useFieldProblems } from "./use_fields";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
const refused = (details: Record<string, unknown>, status = 422) =>
  new ApiError(status, "validation_error", "The request is not valid.", details);

function Form({ error }: { error: Error | null }) {
  const { form, problemOf } = useFieldProblems(error, ["first", "second", "third"]);
  return (
    <form ref={form}>
      {(["first", "second", "third"] as const).map((name) => (
        <input key={name} name={name} aria-invalid={Boolean(problemOf(name))} />
      ))}
    </form>
  );
}

it("marks every wrong field, those of lists and of objects too", () => {
  const error = refused({
    email: "must be an email address",
    password: "must have at least 8 characters, a number",
    "allowed_ips.0": "is not valid",
    "allowed_ips.2": "is not valid",
    "agent.name": "is required",
  });
  const { problems, rest } = groupFieldProblems(error, ["email", "password", "allowed_ips", "name"]);
  expect(problems).toEqual({
    email: "Must be an email address.",
    password: "Must have at least 8 characters, a number.",
    allowed_ips: "Entry 1: Is not valid. Entry 3: Is not valid.",
    name: "Is required.",
  });
  expect(rest).toBe("");
});

it("says what no field can say", () => {
  expect(groupFieldProblems(refused({ email: "is required", plan: "is unknown" }), ["email"]).rest).not.toBe("");
  expect(groupFieldProblems(new ApiError(409, "version_conflict", "Taken.", { email: "x" }), ["email"])).toEqual({
    problems: {},
    rest: "Taken.",
  });
  expect(groupFieldProblems(undefined, ["email"]).rest).toBe("");
});

it("leads to the first wrong field", () => {
  const place = document.body.appendChild(document.createElement("div"));
  const root = createRoot(place);
  act(() => root.render(<Form error={null} />));
  act(() => root.render(<Form error={refused({ third: "is required", second: "is required" })} />));
  expect(place.querySelectorAll('[aria-invalid="true"]')).toHaveLength(2);
  expect(document.activeElement?.getAttribute("name")).toBe("second");
  act(() => root.unmount());
});
