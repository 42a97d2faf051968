// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, vi } from "vitest";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
const state = { rate: { limit: 500, remaining: 500, resetAt: Date.now() + 60_000 } };
vi.mock("../../api/client", () => ({
  readRateLimit: () => state.rate,
  readRatePause: () => 0,
  subscribeToRateLimit: () => () => undefined,
}));
const { RateMeter } = await import("./rate");

function shown(remaining: number, left = 60_000): string {
  state.rate = { limit: 500, remaining, resetAt: Date.now() + left };
  const place = document.createElement("div");
  act(() => createRoot(place).render(<RateMeter />));
  return place.textContent ?? "";
}

it("shows the requests of the minute only once they are nearly used up", () => {
  expect(shown(500)).toBe("");
  expect(shown(101)).toBe("");
  expect(shown(100)).toContain("400 / 500");
  expect(shown(0)).toContain("500 / 500");
  expect(shown(0, -1)).toBe("");
});
