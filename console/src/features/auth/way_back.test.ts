// @vitest-environment jsdom
import { expect, test } from "vitest";
import { findPathInside, isHostedPage } from "./way_back";

test("only the address of a hosted page leads out of the console after the sign-in", () => {
  for (const to of ["/c/lamp-desk", "/c/abc"]) expect(isHostedPage(to)).toBe(true);
  for (const to of ["//evil.example/c/x", "/c/..", "/c/a/b", "/c/Lamp", "/c/lamp\n", "https://x/c/lamp", "", undefined])
    expect(isHostedPage(to)).toBe(false);
});

test("a sign-in stays on this site", () => {
  expect([undefined, "", "//evil.example", "https://evil.example", "/agents"].map(findPathInside)).toEqual([
    ...["/", "/", "/", "/", "/agents"],
  ]);
});
