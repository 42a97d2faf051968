import { expect, it } from "vitest";

const read = <T>(found: Record<string, T>) => Object.entries(found);
const english = import.meta.glob<Record<string, string>>("/src/{*/*,*/*/*}/words.en.json", {
  eager: true,
  import: "default",
});
const german = import.meta.glob<Record<string, string>>("/src/{*/*,*/*/*}/words.de.json", {
  eager: true,
  import: "default",
});
const sources = import.meta.glob<string>("/src/*/*/*.{ts,tsx}", { eager: true, query: "?raw", import: "default" });
const placeholders = (text: string) => [...text.matchAll(/\{(\w+)[,}]/g)].map(([, name]) => name).sort();

it.each(read(english))("translates every text of %s", (path, table) => {
  const translated = german[path.replace(".en.", ".de.")] ?? {};
  expect(Object.keys(translated).sort()).toEqual(Object.keys(table).sort());
  for (const [key, text] of Object.entries(table))
    expect(new Set(placeholders(translated[key] ?? "")), key).toEqual(new Set(placeholders(text)));
});

it.each(read(german))("addresses people in one way in %s", (_, table) => {
  // What is said to a model, or asked of it, is no text for the reader.
  const said = Object.entries(table).filter(([key]) => !/(Prompt|Ask\d)$/.test(key));
  expect(said.filter(([, text]) => /\b(du|dich|dir|dein\p{L}*)\b/iu.test(text))).toEqual([]);
});

it("names the folder whose words it uses", () => {
  const folder = (path: string) => path.split("/").slice(-3, -1).join("/");
  const wrong = read(sources).flatMap(([path, text]) => {
    const [, from, named] = /import en from "(.+)\/words\.en\.json"[\s\S]*words\(en, "([^"]+)"\)/.exec(text) ?? [];
    if (!named) return [];
    const expected = from === "." ? folder(path) : from?.replaceAll("../", "");
    return named === expected || named === `shared/${expected}` ? [] : [`${path}: ${named}`];
  });
  expect(wrong).toEqual([]);
});
