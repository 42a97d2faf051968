import { expect, it } from "vitest";
import { translateRefusal } from "../refusals/refusals";
import { translateSentence, translateText } from "./sentences";
import german from "./words.de.json";

const table = german as Record<string, string>;

it.each([
  ["The agent Cashier wants to use the tool Refund.", "Der Agent Cashier möchte das Werkzeug Refund verwenden."],
  [
    "The agent Cashier wants to use the function list of the tool Shop, on behalf of the agent Desk.",
    "Der Agent Cashier möchte die Funktion list des Werkzeugs Shop verwenden, im Auftrag des Agenten Desk.",
  ],
  ["Attached tool Refund (v2).", "Werkzeug Refund (v2) zugeordnet."],
  ["SmolLM2 135M Instruct by Hugging Face, 4 bit", "SmolLM2 135M Instruct von Hugging Face, 4 Bit"],
  [
    "The model provider failed or is overloaded (500): no\nmore",
    "Der Anbieter des Modells ist ausgefallen oder überlastet (500): no\nmore",
  ],
  ["A note of a person.", "A note of a person."],
])("translates %j", (sentence, expected) => {
  expect(translateSentence(sentence, table)).toBe(expected);
  expect(translateSentence(sentence)).toBe(sentence);
});

it("translates each paragraph, and the words of the server within it", () => {
  const text =
    "The agent Cashier wants to use the tool Refund.\n\nA visitor of your website asks for approval. Decide it before 2026-11-18 11:32 UTC.";
  expect(translateText(text, table)).toBe(
    "Der Agent Cashier möchte das Werkzeug Refund verwenden.\n\nEine Person auf Ihrer Website bittet um Genehmigung. Zu entscheiden bis 2026-11-18 11:32 UTC.",
  );
});

it("keeps every value of a sentence", () => {
  const names = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
  for (const [template, text] of Object.entries(table)) expect(names(text), template).toEqual(names(template));
});

it("helps a refusal whose code has no words", () => {
  expect(translateRefusal("model_error", "Created.", {}, {}, table)).toBe("Angelegt.");
  expect(translateRefusal("model_error", "Created.")).toBe("Created.");
});
