import { describe, expect, it } from "vitest";
import { ApiError } from "../../api/errors";
import { findLinkToken, isLinkRefused } from "./link_token";

describe("the token of a link", () => {
  it.each([
    ["token=abc-1", {}, "abc-1"],
    ["invite_token=a%2Bb", {}, "a+b"],
    ["", { token: "abc" }, "abc"],
    ["", { invite_token: "abc" }, "abc"],
    ["token=new", { token: "old" }, "new"],
    ["token=", { token: "old" }, "old"],
    ["", {}, undefined],
    ["", { token: 7 }, undefined],
    ["invite", { other: "x" }, undefined],
  ])("is found in %j and %j", (hash, search, token) => {
    expect(findLinkToken(hash, search)).toBe(token);
  });
});

describe("a refusal of the link", () => {
  it.each([
    [new ApiError(422, "validation_error", "", { token: "is invalid" }), true],
    [new ApiError(422, "validation_error", "", { new_password: "is too short" }), false],
    [new ApiError(429, "rate_limited", "", { token: "x" }), false],
    [undefined, false],
  ])("is told from others", (error, isRefused) => {
    expect(isLinkRefused(error)).toBe(isRefused);
  });
});
