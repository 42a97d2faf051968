import { isEffect, type SourceFacts } from "./sources";

const isTest = (source: SourceFacts) => source.path.includes(".test.");

export const longFiles = (sources: SourceFacts[], limit: number): string[] =>
  sources
    .filter((source) => source.lineCount > limit)
    .map((source) => `${source.path} has ${source.lineCount} lines, and ${limit} are allowed`);

/** The callbacks of `describe` and `it` hold tests and are as long as these are many. */
export const longFunctions = (sources: SourceFacts[], limit: number): string[] =>
  sources
    .filter((source) => !isTest(source))
    .flatMap((source) =>
      source.functions
        .filter(({ lineCount }) => lineCount > limit)
        .map(({ name, lineCount }) => `${source.path}: ${name} has ${lineCount} lines, and ${limit} are allowed`),
    );

export const vagueFiles = (sources: SourceFacts[]): string[] =>
  sources
    .filter(({ path }) => /\/(parts|utils|helpers|misc|common)\b[^/]*$/.test(path))
    .map(({ path }) => `${path} does not say what is in it`);

/** Names that two files export: an import by its name alone may be the wrong one. */
export function repeatedExports(sources: SourceFacts[]): string[] {
  const places = new Map<string, string[]>();
  for (const { path, exports } of sources.filter((source) => !isTest(source)))
    for (const name of exports) places.set(name, [...(places.get(name) ?? []), path]);
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name} is exported by ${paths.join(" and ")}`);
}

/** Groups of files that import each other in a circle, by Tarjan's algorithm. */
export function importCircles(sources: SourceFacts[]): string[] {
  const imports = new Map(sources.map((source) => [source.path, source.imports]));
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[] = [];
  const visit = (path: string) => {
    order.set(path, order.size);
    lowest.set(path, order.size - 1);
    stack.push(path);
    for (const target of imports.get(path) ?? []) {
      if (!order.has(target)) visit(target);
      if (stack.includes(target)) lowest.set(path, Math.min(lowest.get(path) ?? 0, lowest.get(target) ?? 0));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const circle = stack.splice(stack.indexOf(path));
    if (circle.length > 1) circles.push(circle.sort().join(" → "));
  };
  for (const path of imports.keys()) if (!order.has(path)) visit(path);
  return circles.sort();
}

/** Effects under any name: layout effects, and hooks that are nothing but an effect, count too. */
export function effectsPerThousandLines(sources: SourceFacts[]): number {
  const code = sources.filter((source) => !isTest(source) && /\.tsx?$/.test(source.path));
  const wrappers = new Set(code.flatMap((source) => source.effectWrappers));
  const effects = code.flatMap(({ hookCalls }) => hookCalls.filter((hook) => isEffect(hook) || wrappers.has(hook)));
  return (1000 * effects.length) / code.reduce((sum, source) => sum + source.lineCount, 0);
}

/** Phrases that make a riddle of a sentence, by the guide on language in CONTRIBUTING.md. */
const RIDDLES = /\b(so many|gone on with|goes on with|in the name of|belongs into|takes up|whoever|whichever way)\b/i;

export const riddles = (sources: SourceFacts[]): string[] =>
  sources.flatMap(({ path, comments }) =>
    comments.filter((comment) => RIDDLES.test(comment)).map((comment) => `${path}: ${comment.trim()}`),
  );

/** Words that name nothing: a function says its effect, a parameter the thing that it takes. */
const FORBIDDEN_NAMES = new Set(["given", "of", "it", "what", "told", "made", "works", "talking", "heard"]);

export const vagueNames = (sources: SourceFacts[]): string[] =>
  sources
    .filter((source) => !isTest(source))
    .flatMap(({ path, functionNames }) =>
      functionNames
        .filter((name) => FORBIDDEN_NAMES.has(name))
        .map((name) => `${path}: a function or parameter is named ${name}`),
    );

export function meanExportedFunctionLength(sources: SourceFacts[]): number {
  const names = sources.filter((source) => !isTest(source)).flatMap((source) => source.exportedFunctions);
  return names.reduce((sum, name) => sum + name.length, 0) / names.length;
}
