// @vitest-environment jsdom
import { expect, it, vi } from "vitest";
import { hideTooltipsOnClick } from "./hide_tooltips";

it("tells what is clicked, and what is around it, that the pointer has left", () => {
  hideTooltipsOnClick();
  document.body.innerHTML = "<span><button><b>Run</b></button></span><i></i>";
  const left = vi.fn();
  for (const one of document.body.querySelectorAll("*")) one.addEventListener("mouseleave", () => left(one.localName));
  document.querySelector("b")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expect(left.mock.calls.flat()).toEqual(["b", "button", "span"]);
});
