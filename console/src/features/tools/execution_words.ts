import { describeFailureCode } from "../../shared/failures/failures";
import { createTranslator } from "../../shared/i18n/words";
import type { Tone } from "../../shared/marks/status";
import type { Executed, ToolExecution } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/tools");
type Status = Executed["status"];
const TONES: Record<Status, Tone> = { pending: "run", running: "run", completed: "ok", failed: "bad", timeout: "bad" };

export const executionTone = (status: Status): Tone => TONES[status];

/** How it ended: why it failed says more than that it did. A code that is newer than this console is for programs. */
export const executionWord = ({ status, error }: { status: Status; error?: { code: string } | null }): string =>
  (status === "failed" && describeFailureCode(error?.code)) || say(`status_${status}`);

/** The input in one line: "order 10482, amount 180". */
export function describeInput({ input, redacted }: Pick<ToolExecution, "input" | "redacted">): string {
  if (redacted) return say("redactedShort");
  const values: unknown = input;
  if (typeof values !== "object" || values === null) return JSON.stringify(values) ?? "";
  return Object.entries(values)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
