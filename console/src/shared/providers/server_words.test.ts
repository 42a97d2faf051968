import { expect, it } from "vitest";
import { describeProbeReason, describeTestResult } from "./server_words";

it.each([
  ["no key for openai_compatible", "No key for OpenAI-compatible server"],
  ["no key for anthropic offers it", "No key for Anthropic offers it"],
  ["its weights are missing: run `retinue models pull`", "Its weights are missing: retinue models pull"],
  ["something newer", "something newer"],
])("says why a model cannot be used: %s", (reason, words) => expect(describeProbeReason(reason)).toBe(words));

it("says why a test failed, and keeps what the provider added", () => {
  expect(describeTestResult("The model provider rejected the API key (401): Bad key")).toBe(
    "The provider refused the key (401): Bad key.",
  );
  expect(describeTestResult("The model provider could not be reached.")).toBe("Nothing answers there.");
  expect(describeTestResult("Something newer.")).toBe("Something newer.");
  expect(describeProbeReason(null)).toBeUndefined();
});
