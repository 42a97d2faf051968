import { expect, test } from "vitest";
import { isHttpsPageLink } from "./page_look";

test("links of a page are encrypted, and only a person is reached by mail", () => {
  expect(isHttpsPageLink("https://brass.example/logo.png", false)).toBe(true);
  expect(isHttpsPageLink("mailto:help@brass.example", true)).toBe(true);
  for (const text of ["http://brass.example", "javascript:alert(1)", "mailto:help@brass.example", "brass.example"])
    expect(isHttpsPageLink(text, false)).toBe(false);
});
