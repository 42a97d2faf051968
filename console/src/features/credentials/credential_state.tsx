import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel } from "../../shared/marks/status";
import { formatExactTime, formatTimeAgo, formatTimeLeft } from "../../shared/time";
import type { CredentialSummary } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");
const WARNING_DAYS = 14;
const DAY_MS = 86_400_000;

/** Days until the credential expires, if that is soon; negative once it has. */
export function daysUntilExpiry(expiresAt: string | null, now = Date.now()): number | undefined {
  if (!expiresAt) return undefined;
  const days = (Date.parse(expiresAt) - now) / DAY_MS;
  return days <= WARNING_DAYS ? days : undefined;
}

/** Whether it works, and since when that is known; an expiry that comes near outranks a test that passed. */
export function CredentialState({ credential }: { credential: CredentialSummary }) {
  const { expires_at: expiresAt, is_valid: isValid, last_tested_at: testedAt } = credential;
  const days = daysUntilExpiry(expiresAt);
  if (expiresAt && days !== undefined && days <= 0)
    return (
      <span title={formatExactTime(expiresAt)}>
        <StatusLabel tone="bad">{say("expired", { when: formatTimeAgo(expiresAt) })}</StatusLabel>
      </span>
    );
  if (!isValid)
    return <StatusLabel tone="bad">{say("refused", { when: testedAt ? formatTimeAgo(testedAt) : "–" })}</StatusLabel>;
  if (expiresAt && days !== undefined)
    return (
      <span title={formatExactTime(expiresAt)}>
        <StatusLabel tone="warn">{say("expires", { when: formatTimeLeft(expiresAt) })}</StatusLabel>
      </span>
    );
  if (!testedAt) return <StatusLabel tone="idle">{say("untested")}</StatusLabel>;
  return (
    <span title={formatExactTime(testedAt)}>
      <StatusLabel tone="ok">{say("works", { when: formatTimeAgo(testedAt) })}</StatusLabel>
    </span>
  );
}
