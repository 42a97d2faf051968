export type CurlCommand = {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  /** What `-d` and its like send, joined as curl joins it. */
  body?: string;
  form: [name: string, value: string][];
  user?: string;
  /** Options that are left out because they change what is sent, and nothing here can say the same. */
  ignored: string[];
};

/** Options that take a value and change nothing about what is sent. */
const WITHOUT_EFFECT = ["-o", "--output", "-m", "--max-time", "--connect-timeout", "--retry", "-w", "--write-out"];
const DATA = ["-d", "--data", "--data-raw", "--data-ascii", "--data-binary", "--data-urlencode", "--json"];
const OTHER_WITH_VALUE = ["-x", "--proxy", "--cacert", "-E", "--cert", "--key", "-T", "--upload-file", "--resolve"];
const HEADER_OF_OPTION: Record<string, string> = {
  "-A": "User-Agent",
  "--user-agent": "User-Agent",
  "-e": "Referer",
  "--referer": "Referer",
  "-b": "Cookie",
  "--cookie": "Cookie",
};
const WITH_VALUE = [
  ...["-X", "--request", "-H", "--header", "-u", "--user", "-F", "--form", "--form-string", "--url"],
  ...DATA,
  ...WITHOUT_EFFECT,
  ...OTHER_WITH_VALUE,
  ...Object.keys(HEADER_OF_OPTION),
];

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r" };

/** Words of a command as a POSIX shell reads them: quotes, `$'…'`, backslashes and continued lines. */
export function splitShellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? "";
    const next = text[at + 1] ?? "";
    if (quote) {
      const isEnd = sign === quote.at(-1);
      const isEscape = sign === "\\" && (quote === "$'" || (quote === '"' && '"\\$`\n'.includes(next)));
      if (isEnd) quote = "";
      else if (isEscape) {
        at += 1;
        if (next !== "\n") word = (word ?? "") + (quote === "$'" ? (ESCAPES[next] ?? next) : next);
      } else word = (word ?? "") + sign;
    } else if (sign === "'" || sign === '"') {
      quote = sign;
      word ??= "";
    } else if (sign === "$" && next === "'") {
      quote = "$'";
      word ??= "";
      at += 1;
    } else if (sign === "\\") {
      const isWindowsLine = next === "\r" && text[at + 2] === "\n";
      at += isWindowsLine ? 2 : 1;
      if (next !== "\n" && !isWindowsLine) word = (word ?? "") + next;
    } else if (/\s/.test(sign)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + sign;
  }
  return word === undefined ? words : [...words, word];
}

/** Options with their values: `-XPOST`, `--request=POST` and `-sSd x` are written apart. */
function* readOptions(words: string[]): Generator<[option: string, value: string]> {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word.startsWith("--")) {
      const [name = "", ...rest] = word.split("=");
      if (rest.length) yield [name, rest.join("=")];
      else if (WITH_VALUE.includes(name)) yield [name, words[++at] ?? ""];
      else yield [name, ""];
    } else if (word.startsWith("-") && word.length > 1) {
      for (let place = 1; place < word.length; place += 1) {
        const name = `-${word[place]}`;
        if (!WITH_VALUE.includes(name)) {
          yield [name, ""];
          continue;
        }
        yield [name, word.slice(place + 1) || (words[++at] ?? "")];
        break;
      }
    } else yield ["--url", word];
  }
}

function splitPair(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return at < 0 ? [text.trim(), ""] : [text.slice(0, at).trim(), text.slice(at + sign.length).trim()];
}

/** `name=value` with the value encoded, as `--data-urlencode` sends it. */
function encodeData(value: string): string {
  const [name, content] = splitPair(value, "=");
  return value.includes("=") ? `${name}${name && "="}${encodeURIComponent(content)}` : encodeURIComponent(value);
}

/** Read one curl command; undefined if the text is none. Nothing of it is sent anywhere. */
export function parseCurl(text: string): CurlCommand | undefined {
  const [program, ...words] = splitShellWords(text.trim().replace(/^\$\s+/, ""));
  if (program !== "curl" && program !== "curl.exe") return undefined;
  const command: CurlCommand = { method: "", url: "", headers: [], form: [], ignored: [] };
  const data: string[] = [];
  let isQuery = false;
  for (const [option, value] of readOptions(words)) {
    const header = HEADER_OF_OPTION[option];
    if (option === "--url") command.url ||= value;
    else if (option === "-X" || option === "--request") command.method = value.toUpperCase();
    else if (option === "-H" || option === "--header") command.headers.push(splitPair(value, ":"));
    else if (option === "-u" || option === "--user") command.user = value;
    else if (option === "-F" || option === "--form" || option === "--form-string")
      command.form.push(splitPair(value, "="));
    else if (option === "-G" || option === "--get") isQuery = true;
    else if (option === "-I" || option === "--head") command.ignored.push(option);
    else if (DATA.includes(option)) {
      if (option === "--json") command.headers.push(["Content-Type", "application/json"]);
      data.push(option === "--data-urlencode" ? encodeData(value) : value);
    } else if (header) command.headers.push([header, value]);
    else if (OTHER_WITH_VALUE.includes(option)) command.ignored.push(option);
  }
  if (!command.url) return undefined;
  if (!/^[a-z]+:\/\//i.test(command.url)) command.url = `http://${command.url}`;
  if (isQuery && data.length) command.url += `${command.url.includes("?") ? "&" : "?"}${data.join("&")}`;
  else if (data.length) command.body = data.join("&");
  command.method ||= command.body !== undefined || command.form.length ? "POST" : "GET";
  return command;
}
