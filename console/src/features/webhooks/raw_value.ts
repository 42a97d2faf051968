/** Where a JSON value that begins at `start` ends in the text. */
function findEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      at = findStringEnd(text, at);
      if (depth === 0) return at + 1;
    } else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") {
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && char === ",") return at;
  }
  return text.length;
}

function findStringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

const skipSpace = (text: string, start: number) => {
  let at = start;
  while (/\s/.test(text[at] ?? "")) at++;
  return at;
};

/** Where the value of a field of the object that begins at `start` begins; -1 if it has none. */
function findField(text: string, start: number, name: string): number {
  let at = skipSpace(text, start + 1);
  while (text[at] === '"') {
    const end = findStringEnd(text, at);
    const field = JSON.parse(text.slice(at, end + 1)) as string;
    const value = skipSpace(text, skipSpace(text, end + 1) + 1);
    if (field === name) return value;
    at = skipSpace(text, findEnd(text, value));
    at = skipSpace(text, at + 1);
  }
  return -1;
}

/** The text of a value inside JSON exactly as it stands there, since parsing and writing would change numbers. */
export function findRawValue(text: string, path: string[]): string {
  let at = skipSpace(text, 0);
  for (const name of path) {
    at = text[at] === "{" ? findField(text, at, name) : -1;
    if (at < 0) return "";
  }
  return text.slice(at, findEnd(text, at)).trim();
}
