import { useSyncExternalStore } from "react";
import { everySecond } from "../../shared/clock";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { HistoryThread, type Knot } from "../../shared/patterns/history_thread";
import { formatDayAndTime, formatDuration, formatTimeLeft } from "../../shared/time";
import { answerWord } from "./delivery_words";
import type { DeliveryShown } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

/** The attempts so far, and the next one counting down to its moment. */
export function DeliveryAttempts({ delivery }: { delivery: DeliveryShown }) {
  useSyncExternalStore(everySecond, () => Math.floor(Date.now() / 1000));
  const { attempts, next_attempt_at: next, status } = delivery;
  const knots: Knot[] = attempts.map((one, place) => {
    const isGood = !one.error;
    const before = attempts[place - 1];
    const waited = before && Date.parse(one.started_at) - Date.parse(before.started_at);
    return {
      key: String(one.attempt),
      tone: isGood ? "ok" : "bad",
      title:
        waited === undefined ? formatDayAndTime(one.started_at).time : say("after", { time: formatDuration(waited) }),
      note: one.response_time_ms === null ? undefined : say("took", { time: formatDuration(one.response_time_ms) }),
      end: <StatusPill tone={isGood ? "ok" : "bad"}>{answerWord(one)}</StatusPill>,
    };
  });
  if (status === "pending")
    knots.push({
      key: "next",
      tone: "next",
      title: next && Date.parse(next) > Date.now() ? say("in", { time: formatTimeLeft(next) }) : say("underWay"),
      note: next ? say("nextTry", { when: formatDayAndTime(next).time, attempt: delivery.attempt + 1 }) : undefined,
      end: <StatusPill tone="run">{say("next")}</StatusPill>,
    });
  if (status === "failed") knots.push({ key: "end", tone: "idle", title: say("noMoreTries") });
  return (
    <section className="stack g8" aria-label={say("tries")}>
      <h3 className="t-sec">{say("tries")}</h3>
      <HistoryThread knots={knots} label={say("tries")} />
    </section>
  );
}
