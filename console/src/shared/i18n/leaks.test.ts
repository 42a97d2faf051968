import { expect, it } from "vitest";

const read = (found: Record<string, string>) => Object.entries(found).filter(([path]) => !path.includes(".test."));
const sources = read(
  import.meta.glob<string>("/src/**/*.tsx", { eager: true, query: "?raw", import: "default" }) as Record<
    string,
    string
  >,
);
/** Names, and examples of what is typed as it stands. */
const SAME_EVERYWHERE =
  /^(Retinue|JSON|cURL|HTML|ollama run llama3\.2|retinue admin reset-password|sk-…|https:\/\/…\/v1)$/;
const isExample = (text: string) => /\bexample\.(com|org)\b/.test(text);
const isWords = (text: string) => /[A-Za-z]{2}/.test(text) && !SAME_EVERYWHERE.test(text.trim()) && !isExample(text);

it("leaves no words outside the files of words", () => {
  const found = sources.flatMap(([path, text]) => {
    const bare = text.replace(/\{?\/\*[\s\S]*?\*\/\}?/g, "").replace(/^\s*\/\/.*$/gm, "");
    const between = [...bare.matchAll(/[a-zA-Z"'}]>\s*([^<>{}=();]*[A-Za-z]{2}[^<>{}=();]*)<\//g)].map(
      ([, said]) => said ?? "",
    );
    const attributes = [...bare.matchAll(/\s(?:label|title|placeholder|description|aria-label|alt)="([^"]+)"/g)].map(
      ([, said]) => said ?? "",
    );
    return [...between, ...attributes].filter(isWords).map((said) => `${path}: ${said.trim()}`);
  });
  expect(sources.length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});

it("writes German where it says German", () => {
  const german = import.meta.glob<Record<string, string>>("/src/{*/*,*/*/*}/words.de.json", {
    eager: true,
    import: "default",
  });
  const english = /\b(the|and|with|your|this|that|from|have|has|cannot|which|until|every)\b/i;
  const mixed = Object.entries(german).flatMap(([path, table]) =>
    Object.entries(table)
      // Texts to be found by are also given in other languages.
      .filter(([key, text]) => !key.endsWith("Also") && english.test(text.replace(/\{\w+[,}]/g, "")))
      .map(([key, text]) => `${path} ${key}: ${text}`),
  );
  expect(mixed).toEqual([]);
});

it("shows no code, key or identifier where a word belongs", () => {
  const raw = /(?<!\$)\{\s*(?:String\()?[\w.?[\]]*\.(?:user_agent|your_role|role|scope|event_type|title_code)\)?\s*\}/;
  const shown = sources.flatMap(([path, text]) =>
    text
      .split("\n")
      .filter((line) => raw.test(line) && !/(title|key|value|checked|of|scope|search)=\{/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(shown).toEqual([]);
});
