import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel, type Tone } from "../../shared/marks/status";
import { formatDayAndTime, formatExactTime, formatTimeSince } from "../../shared/time";
import type { OutgoingWebhook } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");
type Standing = Pick<OutgoingWebhook, "active" | "disabled_reason" | "failing_since" | "last_delivery_at">;

/** A moment from which on something has been so: "06:12" today, else "12 Nov, 06:12". */
export function formatSinceWhen(at: string, now = new Date()): string {
  const { day, time } = formatDayAndTime(at);
  return day === formatDayAndTime(now.toISOString()).day ? time : `${day}, ${time}`;
}

/** How a webhook stands, in words, and since when. */
export function describeWebhook(webhook: Standing): { tone: Tone; text: string; at?: string } {
  const { active, disabled_reason, failing_since, last_delivery_at } = webhook;
  if (disabled_reason && !active) return { tone: "bad", text: say("disabledItself") };
  if (!active) return { tone: "idle", text: say("off") };
  if (failing_since)
    return { tone: "bad", text: say("refusesSince", { when: formatSinceWhen(failing_since) }), at: failing_since };
  if (!last_delivery_at) return { tone: "idle", text: say("nothingSent") };
  return { tone: "ok", text: say("worksSince", { when: formatTimeSince(last_delivery_at) }), at: last_delivery_at };
}

export function WebhookState({ webhook }: { webhook: Standing }) {
  const { tone, text, at } = describeWebhook(webhook);
  return (
    <span title={at && formatExactTime(at)}>
      <StatusLabel tone={tone}>{text}</StatusLabel>
    </span>
  );
}
