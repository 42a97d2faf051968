import CircleAlert from "icon:circle-alert";
import Clock from "icon:clock";
import type { ApiError } from "../../api/errors";
import { createTranslator } from "../../shared/i18n/words";
import { useCountdown } from "../../shared/states/states";
import en from "./words.en.json";

const say = createTranslator(en, "features/auth");

const describeSignInError = (error: ApiError): string => {
  if (error.status === 0) return say("gone");
  const known = {
    invalid_credentials: say("wrong"),
    invalid_code: say("wrongCode"),
    account_inactive: say("inactive"),
    email_not_verified: say("unverified"),
    mfa_token_invalid: say("mfaStale"),
  }[error.reasonText];
  return known ?? error.message;
};

export function SignInProblem({ error }: { error: ApiError | undefined }) {
  if (!error) return null;
  if (error.status === 429) return <ThrottleNote seconds={error.retryAfterSeconds || 60} />;
  return (
    <div className="note bad" role="alert">
      <CircleAlert size={15} />
      <span>{describeSignInError(error)}</span>
    </div>
  );
}

function ThrottleNote({ seconds }: { seconds: number }) {
  const left = useCountdown(seconds);
  const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  return (
    <div className="note warn" role="alert">
      <Clock size={15} />
      <span>{say("throttled", { time })}</span>
    </div>
  );
}
