import { createTranslator } from "../../shared/i18n/words";
import type { Tone } from "../../shared/marks/status";
import { formatTimeLeft } from "../../shared/time";
import type { Delivery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

export function deliveryTone({ status, attempt }: Delivery): Tone {
  if (status === "delivered") return "ok";
  if (status === "failed") return "bad";
  return attempt ? "warn" : "run";
}

/** What happens next to a delivery, or what has become of it. */
export function describeDelivery({ status, attempt, next_attempt_at: next }: Delivery): string {
  if (status === "delivered") return attempt > 1 ? say("arrivedAtTry", { attempt }) : say("arrivedAtOnce");
  if (status === "failed") return say("givenUp", { count: attempt });
  // A try that is due has no time left, and no answer yet.
  if (!attempt || !next || Date.parse(next) <= Date.now()) return say("underWay");
  return say("triesAgain", { when: formatTimeLeft(next), attempt: attempt + 1 });
}

/** The answer in one word: its status, or the kind of failure. */
export const answerWord = ({ response_code, error }: Pick<Delivery, "response_code" | "error">) =>
  response_code ? String(response_code) : (error ?? "");

/** Events have no other name than their type. */
export const deliveredEventName = ({ event_type: name }: Pick<Delivery, "event_type">) => name;
