import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/people");

// The first that fits: Edge and Opera also say Chrome, and Chrome also says Safari.
const BROWSERS: [RegExp, string][] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\/|\bOpera\b/, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|Chromium|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bVersion\/\S+ .*\bSafari\//, "Safari"],
];
// A program that asks by itself names itself before the first slash.
const PROGRAMS: [RegExp, string][] = [
  [/^curl\//, "curl"],
  [/^Wget\//, "Wget"],
  [/^python-requests\/|^python-httpx\/|^aiohttp\/|^Python\//i, "Python"],
  [/^node\b|^undici\b|^axios\//i, "Node.js"],
  [/^Go-http-client\//, "Go"],
  [/^PostmanRuntime\//, "Postman"],
];
const SYSTEMS: [RegExp, string][] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];
const findMatchingName = (patterns: [RegExp, string][], text: string) =>
  patterns.find(([shape]) => shape.test(text))?.[1];

/** "Firefox on Linux" from what a browser says of itself. */
export function deviceNameOf(userAgent: string | null | undefined): string {
  const text = userAgent ?? "";
  const program = findMatchingName(PROGRAMS, text);
  if (program) return say("program", { name: program });
  const browser = findMatchingName(BROWSERS, text);
  const system = findMatchingName(SYSTEMS, text);
  if (browser && system) return say("browserOn", { browser, system });
  return browser ?? (system ? say("someBrowserOn", { system }) : say("unknownDevice"));
}
