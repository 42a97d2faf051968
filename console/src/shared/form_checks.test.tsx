// @vitest-environment jsdom
import { act, useRef } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";
import { ApiError } from "../api/errors";
import { findEmailProblem, findPasswordProblem, findRequiredProblem, useFormChecks } from "./form_checks";
import { groupFieldProblems } from "./use_fields";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

it.each([
  ["", "This field is required."],
  ["weak", "Must have at least 8 characters, an uppercase letter, a number."],
  ["PASSWORD1", "Must have a lowercase letter."],
  ["Längeres1", undefined],
  [`Aa1${"x".repeat(126)}`, "Must be at most 128 characters."],
])("says of the password %j what is missing", (value, problem) => expect(findPasswordProblem(value)).toBe(problem));

it.each([
  [" ", "This field is required."],
  ["no address", "Must be a single email address."],
  ["a@b", "Must be a single email address."],
  ["a@b.example, c@d.example", "Must be a single email address."],
  [" mara+1@halden.example ", undefined],
])("says of the address %j what is wrong", (value, problem) => expect(findEmailProblem(value)).toBe(problem));

function Form({ name, password }: { name: string; password: string }) {
  const form = useRef<HTMLFormElement>(null);
  const { check, wrong } = useFormChecks(form, {
    name: findRequiredProblem(name),
    password: findPasswordProblem(password),
  });
  return (
    <form ref={form}>
      <input name="name" aria-invalid={Boolean(wrong("name"))} />
      <input name="password" aria-invalid={Boolean(wrong("password"))} />
      <button type="button" onClick={(event) => event.currentTarget.setAttribute("data-sent", String(check()))} />
    </form>
  );
}

it("marks all wrong fields at once, after the first try, and leads to the first", async () => {
  const holder = document.body.appendChild(document.createElement("div"));
  const root = createRoot(holder);
  await act(async () => root.render(<Form name="" password="weak" />));
  const wrong = () => [...holder.querySelectorAll('[aria-invalid="true"]')].map((field) => field.getAttribute("name"));
  const press = () =>
    act(async () => {
      holder.querySelector("button")?.click();
      await new Promise((resolve) => requestAnimationFrame(resolve));
    });
  expect(wrong()).toEqual([]);
  await press();
  expect(wrong()).toEqual(["name", "password"]);
  expect(document.activeElement?.getAttribute("name")).toBe("name");
  await act(async () => root.render(<Form name="Mara" password="Strong-1-pass" />));
  expect(wrong()).toEqual([]);
  await press();
  expect(holder.querySelector("button")?.dataset.sent).toBe("true");
});

it("puts a refusal that is about one field at this field", () => {
  const taken = new ApiError(409, "email_taken", "An account with this email address already exists.", {});
  expect(groupFieldProblems(taken, ["email", "role"])).toEqual({ problems: { email: taken.message }, rest: "" });
  expect(groupFieldProblems(taken, ["name"]).rest).toBe(taken.message);
});
