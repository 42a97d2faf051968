import { expect, it } from "vitest";
import { selectWidgetWords } from "./widget";
import de from "./widget.de.json";
import en from "./widget.en.json";
import { fillPlaceholders, matchLanguage } from "./words";

const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

it.each([["widget", en, de]])("translates every text of the %s", (_, english, german) => {
  expect(Object.keys(german).sort()).toEqual(Object.keys(english).sort());
  for (const [key, text] of Object.entries(english))
    expect(placeholders((german as Record<string, string>)[key] ?? ""), key).toEqual(placeholders(text));
});

it("finds the language of a tag, and English for one that we do not have", () => {
  expect(["de-AT", "DE", "en-GB", "fr", "", null, undefined].map(matchLanguage)).toEqual([
    "de",
    "de",
    "en",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect([selectWidgetWords("de-CH").send, selectWidgetWords("fr").send]).toEqual(["Senden", "Send"]);
});

it("puts values into a text and leaves names without one", () => {
  expect(fillPlaceholders("{a} of {b} and {c}", { a: 1, b: "{a}" })).toBe("1 of {a} and {c}");
});
