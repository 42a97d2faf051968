import type { PlannedRequest } from "./request_draft";

export const SNIPPET_LANGUAGES = ["curl", "python", "javascript"] as const;
export type SnippetLanguage = (typeof SNIPPET_LANGUAGES)[number];

/** A snippet takes the token from the environment: no page shows a real one. */
const TOKEN = "API_TOKEN";
type Call = PlannedRequest & { url: string; isPublic: boolean };

const quoteShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const quote = (text: string) => JSON.stringify(text);
const nameOfFile = (files: File[] | undefined) => files?.[0]?.name ?? "file";

function parseBody(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function writeCurl({ method, url, headers, json, parts, isPublic }: Call): string {
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${quoteShell(url)}`];
  if (!isPublic) lines.push(`-H "Authorization: Bearer $${TOKEN}"`);
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoteShell(`${name}: ${value}`)}`);
  for (const [name, value] of Object.entries(parts ?? {})) {
    if (typeof value === "string") lines.push(`-F ${quoteShell(`${name}=${value}`)}`);
    else
      for (const file of value.length ? value : [undefined])
        lines.push(`-F ${quoteShell(`${name}=@${file?.name ?? "file"}`)}`);
  }
  if (json !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quoteShell(json)}`);
  return lines.join(" \\\n  ");
}

const INDENT = "    ";

/** A JSON value as Python writes it. */
export function formatPython(value: unknown, depth = 0): string {
  const pad = INDENT.repeat(depth + 1);
  const end = `\n${INDENT.repeat(depth)}`;
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) {
    if (!value.length) return "[]";
    return `[\n${value.map((one) => `${pad}${formatPython(one, depth + 1)},`).join("\n")}${end}]`;
  }
  if (typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value);
  if (!entries.length) return "{}";
  return `{\n${entries.map(([key, one]) => `${pad}${quote(key)}: ${formatPython(one, depth + 1)},`).join("\n")}${end}}`;
}

function writePython({ method, url, headers, json, parts, isPublic }: Call): string {
  const sent = Object.entries(headers).map(([name, value]) => `${quote(name)}: ${quote(value)}`);
  if (!isPublic) sent.unshift(`"Authorization": f"Bearer {os.environ['${TOKEN}']}"`);
  const lines = [`${INDENT}${quote(method)},`, `${INDENT}${quote(url)},`];
  if (sent.length) lines.push(`${INDENT}headers={${sent.join(", ")}},`);
  const texts = Object.entries(parts ?? {}).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  const files = Object.entries(parts ?? {}).filter((pair): pair is [string, File[]] => typeof pair[1] !== "string");
  if (texts.length)
    lines.push(`${INDENT}data={${texts.map(([name, value]) => `${quote(name)}: ${quote(value)}`).join(", ")}},`);
  if (files.length)
    lines.push(
      `${INDENT}files={${files.map(([name, value]) => `${quote(name)}: open(${quote(nameOfFile(value))}, "rb")`).join(", ")}},`,
    );
  if (json !== undefined) lines.push(`${INDENT}json=${formatPython(parseBody(json), 1)},`);
  const head = isPublic ? "import httpx" : "import os\n\nimport httpx";
  return `${head}\n\nresponse = httpx.request(\n${lines.join("\n")}\n)\nresponse.raise_for_status()\nprint(response.text)`;
}

const indentAfterFirst = (text: string) => text.replaceAll("\n", "\n  ");

function writeJavaScript({ method, url, headers, json, parts, isPublic }: Call): string {
  const sent = Object.entries(headers).map(([name, value]) => `    ${quote(name)}: ${quote(value)},`);
  if (!isPublic) sent.unshift(`    Authorization: \`Bearer \${process.env.${TOKEN}}\`,`);
  if (json !== undefined) sent.push('    "Content-Type": "application/json",');
  const lines = method === "GET" ? [] : [`  method: ${quote(method)},`];
  if (sent.length) lines.push(`  headers: {\n${sent.join("\n")}\n  },`);
  const form = parts
    ? `const form = new FormData();\n${Object.entries(parts)
        .map(([name, value]) =>
          typeof value === "string"
            ? `form.append(${quote(name)}, ${quote(value)});`
            : `form.append(${quote(name)}, await openAsBlob(${quote(nameOfFile(value))}), ${quote(nameOfFile(value))});`,
        )
        .join("\n")}\n\n`
    : "";
  const head = form.includes("openAsBlob") ? 'import { openAsBlob } from "node:fs";\n\n' : "";
  if (parts) lines.push("  body: form,");
  if (json !== undefined) {
    const body = parseBody(json);
    lines.push(`  body: JSON.stringify(${indentAfterFirst(JSON.stringify(body ?? null, null, 2))}),`);
  }
  const options = lines.length ? `, {\n${lines.join("\n")}\n}` : "";
  return `${head}${form}const response = await fetch(${quote(url)}${options});\nif (!response.ok) throw new Error(await response.text());\nconsole.log(await response.text());`;
}

const WRITERS = { curl: writeCurl, python: writePython, javascript: writeJavaScript };

/** A request as a program that can be copied; the token is a variable of the environment. */
export const writeSnippet = (
  language: SnippetLanguage,
  plan: PlannedRequest,
  { server, isPublic }: { server: string; isPublic: boolean },
): string => WRITERS[language]({ ...plan, url: server + plan.path, isPublic });
