import { describe, expect, it } from "vitest";
import {
  effectsPerThousandLines,
  importCircles,
  longFiles,
  longFunctions,
  meanExportedFunctionLength,
  repeatedExports,
  riddles,
  vagueFiles,
  vagueNames,
} from "./rules";
import { readSource, readSources } from "./sources";

const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 80;
/** What is left of the time before the rules. Only ever lowered; zero means that the rule holds everywhere. */
const LEFT = { files: 0, functions: 0, vagueFiles: 0, exports: 0, circles: 0, riddles: 0 };
/** Only ever raised. */
const MIN_MEAN_EXPORTED_FUNCTION_LENGTH = 13.7;
const MAX_EFFECTS_PER_THOUSAND_LINES = 1.2;

const expectAtMost = (count: number, found: string[]) =>
  expect(found.length, `\n${found.join("\n")}\n`).toBeLessThanOrEqual(count);

describe("the front end", () => {
  const sources = readSources();

  it("is read: the console, its packages, the widget, forms and their styles", () => {
    const paths = sources.map((source) => source.path);
    expect(paths).toContain("console/src/main.tsx");
    expect(paths).toContain("console/packages/events/event_stream.ts");
    expect(paths).toContain("console/packages/widget/chat_element.ts");
    expect(paths).toContain("console/packages/form/form_element.ts");
    expect(paths).toContain("console/packages/form/field_style.css");
  });

  it("has short files", () => expectAtMost(LEFT.files, longFiles(sources, MAX_FILE_LINES)));
  it("has short functions", () => expectAtMost(LEFT.functions, longFunctions(sources, MAX_FUNCTION_LINES)));
  it("names files by what is in them", () => expectAtMost(LEFT.vagueFiles, vagueFiles(sources)));
  it("names functions and parameters by what they do and take", () => {
    expectAtMost(0, vagueNames(sources));
    expect(meanExportedFunctionLength(sources)).toBeGreaterThanOrEqual(MIN_MEAN_EXPORTED_FUNCTION_LENGTH);
  });
  it("exports a name once", () => expectAtMost(LEFT.exports, repeatedExports(sources)));
  it("imports in no circle", () => expectAtMost(LEFT.circles, importCircles(sources)));
  it("speaks plainly", () => expectAtMost(LEFT.riddles, riddles(sources)));
  it("keeps state out of effects", () =>
    expect(effectsPerThousandLines(sources)).toBeLessThanOrEqual(MAX_EFFECTS_PER_THOUSAND_LINES));
});

describe("a rule finds what it is for", () => {
  const plant = (files: Record<string, string>) =>
    Object.entries(files).map(([path, text]) => readSource(path, text, new Set(Object.keys(files))));

  it("long files and functions", () => {
    const planted = plant({
      "a/long.ts": `export function long() {\n${"  x();\n".repeat(4)}}\n`,
      "a/short.css": "a {}\n",
    });
    expect(longFiles(planted, 5)).toEqual(["a/long.ts has 6 lines, and 5 are allowed"]);
    expect(longFunctions(planted, 5)).toEqual(["a/long.ts: long has 6 lines, and 5 are allowed"]);
    expect(longFunctions(plant({ "a/long.test.ts": planted[0]?.path ?? "" }), 0)).toEqual([]);
  });

  it("functions that a variable names, in scripts too", () => {
    const planted = plant({ "a/arrow.js": "const run = () => {\n\n\n};\n" });
    expect(longFunctions(planted, 3)).toEqual(["a/arrow.js: run has 4 lines, and 3 are allowed"]);
  });

  it("circles, through types as well, but not what is fetched later", () => {
    const circle = { "a/one.ts": 'import type { Two } from "./two";\n', "a/two.tsx": 'export * from "./one";\n' };
    expect(importCircles(plant(circle))).toEqual(["a/one.ts → a/two.tsx"]);
    const later = { "a/one.ts": 'import("./two");\n', "a/two.tsx": 'import "./one";\n' };
    expect(importCircles(plant(later))).toEqual([]);
  });

  it("circles through a package of the workspace", () => {
    const files = { "a/one.ts": 'import "@retinue/two";\n', "b/two.ts": 'import "../a/one";\n' };
    const entries = new Map([["@retinue/two", "b/two.ts"]]);
    const known = new Set(Object.keys(files));
    const sources = Object.entries(files).map(([path, text]) => readSource(path, text, known, entries));
    expect(importCircles(sources)).toEqual(["a/one.ts → b/two.ts"]);
  });

  it("names that are exported twice", () => {
    const planted = plant({ "a/one.ts": "export const x = 1, y = 2;\n", "b/two.ts": "export type y = string;\n" });
    expect(repeatedExports(planted)).toEqual(["y is exported by a/one.ts and b/two.ts"]);
    expect(repeatedExports(plant({ "a/one.ts": "export default 1;\n", "b/two.ts": "export default 2;\n" }))).toEqual(
      [],
    );
  });

  it("vague names and riddles", () => {
    expect(vagueFiles(plant({ "a/parts.tsx": "", "a/parts.module.css": "", "a/spare_parts.ts": "" }))).toHaveLength(2);
    const comments = plant({ "a/x.ts": 'const a = "whoever"; // Whoever reads\n/* so many */ // plain\n' });
    expect(riddles(comments)).toEqual(["a/x.ts: // Whoever reads", "a/x.ts: /* so many */"]);
  });

  it("functions and parameters whose names say nothing", () => {
    const planted = plant({
      "a/x.ts":
        "export const of = ({ told }: X) => told;\nexport function saveDraft(given: X) {}\nexport const many = 1;\n",
    });
    expect(vagueNames(planted).map((found) => found.split(" ").at(-1))).toEqual(["of", "told", "given"]);
    expect(meanExportedFunctionLength(planted)).toBe(5.5);
  });

  it.each([
    ["useEffect(() => {});", 1],
    ["React.useLayoutEffect(() => {}); useInsertionEffect(() => {});", 2],
    ["useIsomorphicEffect(() => {}); useShallowEffect(() => {}); useDidUpdate(() => {});", 3],
    ["function useOnce(run) { useEffect(run, []); } const useTwice = (run) => useOnce(run);", 2],
    ["const useLate = (run) => useEffect(run); function A() { useLate(() => {}); useLate(() => {}); }", 3],
    ['const text = "useEffect(() => {})"; useEffectEvent(() => {}); useDocumentTitle("A");', 0],
  ])("effects under any name: %s", (text, count) => {
    expect(effectsPerThousandLines(plant({ "a/x.tsx": `${text}\n\n\n\n` }))).toBe(250 * count);
  });
});
