import { expect, it } from "vitest";
import { guessProvider, isChatModel } from "./providers";

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
  expect(names.filter(isChatModel)).toEqual(["llama3.2:latest", "gpt-5-mini"]);
});
