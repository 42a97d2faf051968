// @vitest-environment jsdom
import { expect, it } from "vitest";
import { readCachePrices } from "./price_form";
import { guessProvider, isChatModelName } from "./providers";
import { isPricedByTokens } from "./queries";

it.each([
  ["sk-ant-api03-abc", "anthropic"],
  ["sk-or-v1-abc", "openrouter"],
  ["gsk_abc", "groq"],
  ["AIzaSyabc", "google"],
  ["sk-proj-abc", "openai"],
  ["  sk-abc ", "openai"],
  ["abcdef0123456789", undefined],
  ["", undefined],
])("names the provider of %j", (key, provider) => expect(guessProvider(key)).toBe(provider));

it("leaves out models that do not talk", () => {
  const names = ["llama3.2:latest", "nomic-embed-text", "gpt-5-mini", "whisper-1", "all-minilm"];
  expect(names.filter(isChatModelName)).toEqual(["llama3.2:latest", "gpt-5-mini"]);
});

it("offers prices of tokens for what is paid by them", () => {
  const kinds = ["chat", "embedding", "other", "speech", "transcription"] as const;
  expect(kinds.filter((kind) => isPricedByTokens({ kind }))).toEqual(["chat", "embedding"]);
});

it("keeps the prices of cached tokens that were set for this organization", () => {
  const prices = { input_price_per_mtok: 3, output_price_per_mtok: 15 };
  const cached = { cached_input_price_per_mtok: 0.3, cache_write_price_per_mtok: null };
  expect(readCachePrices({ id: "a/b", ...prices, ...cached, source: "tenant" })).toEqual(cached);
  expect(readCachePrices({ id: "a/b", ...prices, ...cached, source: "list" })).toEqual({});
});
