// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";
import { Sparkline } from "./sparkline";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

function lastHeight(values: number[]) {
  const place = document.createElement("div");
  act(() => createRoot(place).render(<Sparkline values={values} label="Cost" />));
  return Number(place.querySelector("circle")?.getAttribute("cy"));
}

it("rises to the same height, whether the values are cents or millions", () => {
  expect(lastHeight([0, 0.002])).toBe(lastHeight([0, 2_000_000]));
  expect(lastHeight([0, 0.002])).toBeLessThan(lastHeight([0, 0]));
  expect(lastHeight([3])).toBe(lastHeight([0, 3]));
});
