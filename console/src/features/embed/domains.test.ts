import { describe, expect, it } from "vitest";
import { isDomain, seenAt } from "./domains";

describe("a domain to check", () => {
  it.each(["www.example.com", "localhost", "https://shop.example.com:8443/tea?x=1", "EXAMPLE.com", "[::1]:80"])(
    "takes %s",
    (text) => expect(isDomain(text)).toBe(true),
  );
  it.each(["foo bar", "", "a..b", "exa mple.com", "-x.com", "http://"])("refuses %j", (text) =>
    expect(isDomain(text)).toBe(false),
  );
  it("is found whatever its scheme and port", () => {
    expect(seenAt([{ origin: "http://shop.example.com:3000" }], "https://shop.example.com")).toBeDefined();
  });
});
