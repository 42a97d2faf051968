import { createTranslator } from "../i18n/words";
import { providerNameOf } from "./providers";
import en from "./words.en.json";

const say = createTranslator(en, "shared/providers");
type Word = keyof typeof en;

// What the server says of models and keys has no code: it is known by how it begins.
const REASONS: [RegExp, Word][] = [
  [/^no key for (\S+) offers it$/, "reasonNotOffered"],
  [/^no active key for (\S+)$/, "reasonNoActiveKey"],
  [/^no key for (\S+)$/, "reasonNoKey"],
  [/^the key for (\S+) is not valid$/, "reasonKeyRefused"],
  [/^its packages are missing: (.+)$/, "reasonPackages"],
  [/^its weights are missing: (.+)$/, "reasonWeights"],
  [/^RETINUE_LOCAL_MODEL names a missing file, (.+)$/, "reasonFile"],
];
const TESTS: [RegExp, Word][] = [
  [/^The model provider rejected the API key/, "testKeyRefused"],
  [/^The model provider's rate limit is reached/, "testRateLimited"],
  [/^The model provider failed or is overloaded/, "testOverloaded"],
  [/^The model provider rejected the request/, "testRejected"],
  [/^The model provider did not respond in time/, "testTimeout"],
  [/^The model provider could not be reached/, "testUnreachable"],
  [/^The model provider's response ended early/, "testUnexpected"],
  [/^The model provider returned an unexpected response/, "testUnexpected"],
];

/** Why a model cannot be used; a sentence that is newer than this console stands as it is. */
export function describeProbeReason(reason: string | null | undefined): string | undefined {
  for (const [shape, word] of REASONS) {
    const found = shape.exec(reason ?? "");
    if (found) return say(word, { what: providerNameOf(found[1] ?? "").replace(/^run |`/g, "") });
  }
  return reason ?? undefined;
}

/** Why the test of a key or a server failed, with what the provider added after the colon. */
export function describeTestResult(message: string): string {
  const word = TESTS.find(([shape]) => shape.test(message))?.[1];
  if (!word) return message;
  const [, status = "", detail = ""] = /^[^:(]*(\(\d+\))?\.?(?:: (.*))?$/s.exec(message) ?? [];
  return [say(word) + (status && ` ${status}`), detail]
    .filter(Boolean)
    .join(": ")
    .replace(/[^.!?]$/, "$&.");
}
