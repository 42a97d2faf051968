import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel } from "../../shared/marks/status";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import { needsChannelLook } from "./channel_choice";
import type { DeliveryChannelListed } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");
const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;

/** "Sent just now", "Sent 12 min ago", "Sent on 12 Nov". */
function formatAttemptAge(word: "sent" | "failed", at: string, now = Date.now()): string {
  const age = now - Date.parse(at);
  if (age < MINUTE_MS) return say(`${word}Now`);
  return say(age < DAY_MS ? `${word}Ago` : `${word}On`, { when: formatTimeSince(at, now) });
}

/** Whether it delivers, and what it did last. */
export function ChannelState({ channel }: { channel: DeliveryChannelListed }) {
  const { active, last_used_at: usedAt } = channel;
  if (!active) return <StatusLabel tone="idle">{say("off")}</StatusLabel>;
  if (!usedAt) return <StatusLabel tone="idle">{say("neverUsed")}</StatusLabel>;
  const isFailing = needsChannelLook(channel);
  return (
    <span title={formatExactTime(usedAt)}>
      <StatusLabel tone={isFailing ? "bad" : "ok"}>
        {formatAttemptAge(isFailing ? "failed" : "sent", usedAt)}
      </StatusLabel>
    </span>
  );
}
