import ArrowLeft from "icon:arrow-left";
import CircleAlert from "icon:circle-alert";
import Clock from "icon:clock";
import { Button, Checkbox, PinInput, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { signIn, verifyCode } from "../../api/session";
import { requiredProblem, useFormChecks } from "../../shared/form_checks";
import { words } from "../../shared/i18n/words";
import { SecretInput } from "../../shared/secret_input";
import { useCountdown } from "../../shared/states/states";
import style from "./gate.module.css";
import en from "./words.en.json";

const say = words(en, "features/auth");
const CODE_LENGTH = 6;

const wordsOf = (error: ApiError): string => {
  if (error.status === 0) return say("gone");
  const known = {
    invalid_credentials: say("wrong"),
    invalid_code: say("wrongCode"),
    account_inactive: say("inactive"),
    email_not_verified: say("unverified"),
    mfa_token_invalid: say("mfaStale"),
  }[error.reason];
  return known ?? error.message;
};

export function SignInProblem({ error }: { error: ApiError | undefined }) {
  if (!error) return null;
  if (error.status === 429) return <Throttle seconds={error.retryAfterSeconds || 60} />;
  return (
    <div className="note bad" role="alert">
      <CircleAlert size={15} />
      <span>{wordsOf(error)}</span>
    </div>
  );
}

function Throttle({ seconds }: { seconds: number }) {
  const left = useCountdown(seconds);
  const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  return (
    <div className="note warn" role="alert">
      <Clock size={15} />
      <span>{say("throttled", { time })}</span>
    </div>
  );
}

export type SignInStep = { mfaToken?: string; usesRecovery: boolean };

/** Password, then the second step if the account has one. `Surround` draws the page or the dialog around it. */
export function useSignIn(onDone: () => void) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [isKept, setKept] = useState(true);
  const [step, setStep] = useState<SignInStep>({ usesRecovery: false });
  const [code, setCode] = useState("");
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);

  const form = useRef<HTMLDivElement>(null);
  const { check, wrong } = useFormChecks(form, { email: requiredProblem(email), password: requiredProblem(password) });

  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (caught) {
      const refused = asApiError(caught);
      setError(refused);
      setCode("");
      if (refused.reason === "mfa_token_invalid") setStep({ usesRecovery: false });
    } finally {
      setBusy(false);
    }
  };
  const sendCode = (given: string) =>
    attempt(async () => {
      if (!step.mfaToken || !given) return;
      await verifyCode(step.mfaToken, given.trim(), isKept);
      onDone();
    });
  const sendPassword = () =>
    attempt(async () => {
      const mfaToken = await signIn(email.trim(), password, isKept);
      if (!mfaToken) return onDone();
      setPassword("");
      setStep({ mfaToken, usesRecovery: false });
    });
  const submit = () => void (step.mfaToken ? sendCode(code) : check() && sendPassword());
  const fields = step.mfaToken ? (
    <>
      <SignInProblem error={error} />
      {step.usesRecovery ? (
        <TextInput
          size="md"
          label={say("recovery")}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          autoFocus
          autoComplete="off"
        />
      ) : (
        <div className="stack g6">
          <PinInput
            length={CODE_LENGTH}
            size="lg"
            type="number"
            oneTimeCode
            autoFocus
            value={code}
            onChange={setCode}
            onComplete={(given) => void sendCode(given)}
            aria-label={say("code")}
            getInputProps={(index) => ({ "aria-label": `${say("code")} ${index + 1}` })}
            gap={8}
            classNames={{ input: style.pin }}
          />
          <span className="t-12 t-3">{say("codeHint")}</span>
        </div>
      )}
      <Button type="submit" className={style.tall} fullWidth loading={isBusy}>
        {say("continue")}
      </Button>
      <div className="row between t-13">
        <button
          type="button"
          className={`link ${style.textButton}`}
          onClick={() => {
            setCode("");
            setStep({ ...step, usesRecovery: !step.usesRecovery });
          }}
        >
          {say(step.usesRecovery ? "useApp" : "useRecovery")}
        </button>
        <button
          type="button"
          className={`t-2 row g4 ${style.textButton}`}
          onClick={() => setStep({ usesRecovery: false })}
        >
          <ArrowLeft size={14} />
          {say("someoneElse")}
        </button>
      </div>
    </>
  ) : (
    <div className={style.fields} ref={form}>
      <SignInProblem error={error} />
      <TextInput
        size="md"
        classNames={{ input: style.tall }}
        label={say("email")}
        type="email"
        autoComplete="username"
        error={wrong("email")}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        autoFocus
      />
      <SecretInput
        size="md"
        classNames={{ input: style.tall }}
        label={say("password")}
        autoComplete="current-password"
        error={wrong("password")}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ "aria-label": say("show") }}
      />
      <div className="row between t-13">
        <Checkbox label={say("keep")} checked={isKept} onChange={(event) => setKept(event.currentTarget.checked)} />
        <Link className="link" to="/forgot-password">
          {say("forgot")}
        </Link>
      </div>
      <Button type="submit" className={style.tall} fullWidth loading={isBusy}>
        {say("signIn")}
      </Button>
    </div>
  );
  return { fields, submit, isSecond: Boolean(step.mfaToken), usesRecovery: step.usesRecovery };
}
