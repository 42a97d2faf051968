import { describe, expect, it } from "vitest";
import { ApiError } from "../../api/errors";
import { findSeenPlace, isValidDomain, listDomainProblems, parseDomains } from "./domains";

describe("a domain to check", () => {
  it.each(["www.example.com", "localhost", "https://shop.example.com:8443/tea?x=1", "EXAMPLE.com", "[::1]:80"])(
    "takes %s",
    (text) => expect(isValidDomain(text)).toBe(true),
  );
  it.each(["foo bar", "", "a..b", "exa mple.com", "-x.com", "http://"])("refuses %j", (text) =>
    expect(isValidDomain(text)).toBe(false),
  );
  it("is found whatever its scheme and port", () => {
    expect(findSeenPlace([{ origin: "http://shop.example.com:3000" }], "https://shop.example.com")).toBeDefined();
  });
});

describe("allowed domains", () => {
  const TEXT = "example.com, shop.example.com\n\nmy shop.example\nexample.com\n";
  it("are split at lines and commas, not at spaces", () =>
    expect(parseDomains(TEXT)).toEqual(["example.com", "shop.example.com", "my shop.example"]));
  it("that are refused are named with their line, until they are mended", () => {
    const details = { "allowed_domains.2": "must be a domain" };
    const error = new ApiError(422, "validation_error", "No.", details);
    expect(listDomainProblems(error, parseDomains(TEXT), TEXT)).toEqual([
      { domain: "my shop.example", line: 3, problem: "Must be a domain." },
    ]);
    expect(listDomainProblems(error, parseDomains(TEXT), "example.com")).toEqual([]);
  });
});
