import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** One source file, with what the rules look at. */
export type SourceFacts = {
  path: string;
  lineCount: number;
  functions: { name: string; lineCount: number }[];
  /** Files of the project that it imports, for types too; not what it fetches later by `import()`. */
  imports: string[];
  exports: string[];
  exportedFunctions: string[];
  /** Names of functions, and of their parameters whether plain or taken out of an object. */
  functionNames: string[];
  /** The hooks that it calls, as often as it does. */
  hookCalls: string[];
  /** Hooks of its own that are one effect under another name. */
  effectWrappers: string[];
  comments: string[];
};

const PROJECT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
/** The front end of the project: the console, and the packages of its workspace. */
const FOLDERS = ["console/src", "console/packages", "console/shape"];
const GENERATED = /schema\.d\.ts$/;
const SCRIPT = /\.(ts|tsx|js)$/;

export function readSources(): SourceFacts[] {
  const paths = FOLDERS.flatMap((folder) => filesBelow(folder)).filter((path) => !GENERATED.test(path));
  const known = new Set(paths);
  const entries = packageEntries();
  return paths.map((path) => readSource(path, readFileSync(join(PROJECT, path), "utf8"), known, entries));
}

/** The file behind each name that a package of the workspace exports: `@retinue/events` → its source. */
function packageEntries(): Map<string, string> {
  const folder = "console/packages";
  return new Map(
    readdirSync(join(PROJECT, folder)).flatMap((name) => {
      const text = readFileSync(join(PROJECT, folder, name, "package.json"), "utf8");
      const { name: packageName, exports = {} } = JSON.parse(text) as PackageFile;
      const named = typeof exports === "string" ? { ".": exports } : exports;
      return Object.entries(named).map(([entry, path]): [string, string] => [
        posix.join(packageName, entry),
        posix.join(folder, name, path),
      ]);
    }),
  );
}

type PackageFile = { name: string; exports?: string | Record<string, string> };

function filesBelow(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|js|css)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(PROJECT.length + 1))
    .sort();
}

export function readSource(
  path: string,
  text: string,
  known: Set<string>,
  entries: Map<string, string> = new Map(),
): SourceFacts {
  const file = SCRIPT.test(path)
    ? ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, path.endsWith("x") ? ts.ScriptKind.TSX : undefined)
    : undefined;
  return {
    path,
    lineCount: text.split("\n").length - 1,
    functions: file ? functionsIn(file) : [],
    imports: file ? importsOf(file, known, entries) : [],
    exports: file ? exportsOf(file) : [],
    exportedFunctions: file ? exportsOf(file, true) : [],
    functionNames: file ? functionNamesIn(file) : [],
    hookCalls: file ? hookCallsIn(file) : [],
    effectWrappers: file ? effectWrappersIn(file) : [],
    comments: file ? commentsIn(file) : styleComments(text),
  };
}

const HOOK = /^use[A-Z]/;
/** Effects by React's names, and by those of Mantine's hooks that run a given function as one. */
const EFFECT = /^use(\w*Effect|DidUpdate)$/;
export const isEffect = (hook: string) => EFFECT.test(hook);

/** The hook that a node calls: `useEffect` of `useEffect(…)` and of `React.useEffect(…)`. */
function hookOf(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node)) return;
  const { expression } = node;
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
  return ts.isIdentifier(name) && HOOK.test(name.text) ? name.text : undefined;
}

function hookCallsIn(file: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    const hook = hookOf(node);
    if (hook) found.push(hook);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function effectWrappersIn(file: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      const name = nameOfFunction(node)?.getText() ?? "";
      if (HOOK.test(name) && isOneEffect(node.body)) found.push(name);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Whether the body of a function is an effect, and nothing else. */
function isOneEffect(body: ts.Node): boolean {
  const [only, ...more] = ts.isBlock(body) ? body.statements : [body];
  if (!only || more.length) return false;
  const value = ts.isExpressionStatement(only) || ts.isReturnStatement(only) ? only.expression : only;
  return isEffect((value && hookOf(value)) ?? "");
}

const nameOfFunction = (node: ts.SignatureDeclaration) =>
  node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);

function functionsIn(file: ts.SourceFile): SourceFacts["functions"] {
  const found: SourceFacts["functions"] = [];
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      const lineCount = lineOf(node.end) - lineOf(node.getStart()) + 1;
      found.push({ name: nameOfFunction(node)?.getText() ?? "a function without a name", lineCount });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function functionNamesIn(file: ts.SourceFile): string[] {
  const found: string[] = [];
  const collect = (name: ts.Node | undefined) => {
    if (name && ts.isIdentifier(name)) found.push(name.text);
    else if (name && ts.isObjectBindingPattern(name)) for (const element of name.elements) collect(element.name);
  };
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      collect(nameOfFunction(node));
      for (const parameter of node.parameters) collect(parameter.name);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const isFunctionDeclaration = (node: ts.VariableDeclaration | ts.Statement) =>
  ts.isFunctionDeclaration(node) ||
  (ts.isVariableDeclaration(node) &&
    node.initializer !== undefined &&
    (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer)));

function importsOf(file: ts.SourceFile, known: Set<string>, entries: Map<string, string>): string[] {
  return file.statements.flatMap((statement) => {
    const from =
      ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement) ? statement.moduleSpecifier : undefined;
    if (!from || !ts.isStringLiteral(from)) return [];
    const entry = entries.get(from.text);
    if (entry) return [entry];
    if (!from.text.startsWith(".")) return [];
    const target = posix.join(posix.dirname(file.fileName), from.text);
    return [target, `${target}.ts`, `${target}.tsx`].filter((path) => known.has(path));
  });
}

function exportsOf(file: ts.SourceFile, onlyFunctions = false): string[] {
  return file.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    const has = (kind: ts.SyntaxKind) => modifiers.some((modifier) => modifier.kind === kind);
    if (!has(ts.SyntaxKind.ExportKeyword) || has(ts.SyntaxKind.DefaultKeyword)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations
        .filter((declaration) => !onlyFunctions || isFunctionDeclaration(declaration))
        .map((declaration) => declaration.name.getText());
    const { name } = statement as ts.DeclarationStatement;
    return name && (!onlyFunctions || isFunctionDeclaration(statement)) ? [name.getText()] : [];
  });
}

function commentsIn(file: ts.SourceFile): string[] {
  const found = new Map<number, string>();
  const collect = (ranges: ts.CommentRange[] = []) => {
    for (const { pos, end } of ranges) found.set(pos, file.text.slice(pos, end));
  };
  const visit = (node: ts.Node) => {
    collect(ts.getLeadingCommentRanges(file.text, node.getFullStart()));
    collect(ts.getTrailingCommentRanges(file.text, node.end));
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  return [...found.values()];
}

const styleComments = (text: string): string[] => text.match(/\/\*[\s\S]*?\*\//g) ?? [];
