import { contrastRatio, isColour } from "@retinue/colours";
import { expect, it } from "vitest";
import { findNearestReadableColour } from "./contrast";
import { findSeenPlace, parseDomains } from "./domains";

it("proposes the nearest colour that passes", () => {
  expect(findNearestReadableColour("#0a6d76", "#ffffff", 4.5)).toBe("#0a6d76");
  for (const colour of ["#ffcc00", "#ff8800", "#88ff88", "#ffffff"]) {
    const found = findNearestReadableColour(colour, "#ffffff", 4.5);
    expect(contrastRatio(found, "#ffffff")).toBeGreaterThanOrEqual(4.5);
    expect(isColour(found)).toBe(true);
  }
});

it("reads domains from lines and commas", () => {
  expect(parseDomains(" example.com,\n*.example.com, example.com ")).toEqual(["example.com", "*.example.com"]);
});

it("finds a domain among the origins that loaded the widget", () => {
  const seen = [{ origin: "https://shop.example.com:8443" }, { origin: "http://localhost:3000" }];
  expect(findSeenPlace(seen, "https://shop.example.com/cart")?.origin).toBe("https://shop.example.com:8443");
  expect(findSeenPlace(seen, "LOCALHOST:3000")?.origin).toBe("http://localhost:3000");
  expect(findSeenPlace(seen, "example.com")).toBeUndefined();
});
