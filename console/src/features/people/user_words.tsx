import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel, StatusPill } from "../../shared/marks/status";
import type { User } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/people");

export const fullNameOf = ({ first_name, last_name, email }: User): string =>
  `${first_name} ${last_name}`.trim() || email;

export function UserStatusLabel({ user }: { user: User }) {
  if (user.status === "inactive") return <StatusLabel tone="idle">{say("inactive")}</StatusLabel>;
  if (user.is_pending) return <StatusLabel tone="warn">{say("waiting")}</StatusLabel>;
  return <StatusLabel tone="ok">{say("active")}</StatusLabel>;
}

export const SecondFactorLabel = ({ user }: { user: User }) =>
  user.mfa_enabled ? (
    <span className="t-2">{say("factorOn")}</span>
  ) : (
    <StatusPill tone="warn">{say("factorOff")}</StatusPill>
  );
