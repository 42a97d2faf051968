import ArrowLeft from "icon:arrow-left";
import { Button, Checkbox, PinInput, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type RefObject, useRef, useState, useSyncExternalStore } from "react";
import { signIn, verifySignInCode } from "../../api/session";
import { findRequiredProblem, useFormChecks } from "../../shared/form_checks";
import { createTranslator } from "../../shared/i18n/words";
import { SecretInput } from "../../shared/secret_input";
import style from "./gate.module.css";
import { SignInFlow, type SignInState } from "./sign_in_flow";
import { SignInProblem } from "./sign_in_problem";
import en from "./words.en.json";

const say = createTranslator(en, "features/auth");
const CODE_LENGTH = 6;
type StepProps = { flow: SignInFlow; state: SignInState };

function useSignInFlow(onSignedIn: () => void): StepProps {
  const latest = useRef(onSignedIn);
  latest.current = onSignedIn;
  const [flow] = useState(() => new SignInFlow({ signIn, verifyCode: verifySignInCode }, () => latest.current()));
  return { flow, state: useSyncExternalStore(flow.subscribe, flow.getSnapshot) };
}

/** The fields of the step that is due, and how to send them; the page or dialog around them is the caller's. */
export function useSignInForm(onSignedIn: () => void) {
  const { flow, state } = useSignInFlow(onSignedIn);
  const { email, password, usesRecovery } = state;
  const isSecond = Boolean(state.mfaToken);
  const form = useRef<HTMLDivElement>(null);
  const { check, wrong } = useFormChecks(form, {
    email: findRequiredProblem(email),
    password: findRequiredProblem(password),
  });
  const submitStep = () => void (isSecond ? flow.sendCode() : check() && flow.sendPassword());
  const fields = isSecond ? (
    <CodeFields flow={flow} state={state} />
  ) : (
    <PasswordFields flow={flow} state={state} form={form} problemOf={wrong} />
  );
  return { fields, submit: submitStep, isSecond, usesRecovery };
}

type PasswordFieldsProps = StepProps & {
  form: RefObject<HTMLDivElement | null>;
  problemOf: (field: "email" | "password") => string | undefined;
};

function PasswordFields({ flow, state, form, problemOf }: PasswordFieldsProps) {
  const { email, password, isKept, error, isBusy } = state;
  return (
    <div className={style.fields} ref={form}>
      <SignInProblem error={error} />
      <TextInput
        size="md"
        classNames={{ input: style.tall }}
        label={say("email")}
        type="email"
        autoComplete="username"
        error={problemOf("email")}
        value={email}
        onChange={(event) => flow.edit({ email: event.currentTarget.value })}
        autoFocus
      />
      <SecretInput
        size="md"
        classNames={{ input: style.tall }}
        label={say("password")}
        autoComplete="current-password"
        error={problemOf("password")}
        value={password}
        onChange={(event) => flow.edit({ password: event.currentTarget.value })}
        visibilityToggleButtonProps={{ "aria-label": say("show") }}
      />
      <div className="row between t-13">
        <Checkbox
          label={say("keep")}
          checked={isKept}
          onChange={(event) => flow.edit({ isKept: event.currentTarget.checked })}
        />
        <Link className="link" to="/forgot-password">
          {say("forgot")}
        </Link>
      </div>
      <Button type="submit" className={style.tall} fullWidth loading={isBusy}>
        {say("signIn")}
      </Button>
    </div>
  );
}

function CodeFields({ flow, state }: StepProps) {
  const { code, usesRecovery, error, isBusy } = state;
  return (
    <>
      <SignInProblem error={error} />
      {usesRecovery ? (
        <TextInput
          size="md"
          label={say("recovery")}
          value={code}
          onChange={(event) => flow.edit({ code: event.currentTarget.value })}
          autoFocus
          autoComplete="off"
        />
      ) : (
        <AppCodeField flow={flow} code={code} />
      )}
      <Button type="submit" className={style.tall} fullWidth loading={isBusy}>
        {say("continue")}
      </Button>
      <div className="row between t-13">
        <button type="button" className={`link ${style.textButton}`} onClick={() => flow.switchCodeKind()}>
          {say(usesRecovery ? "useApp" : "useRecovery")}
        </button>
        <button type="button" className={`t-2 row g4 ${style.textButton}`} onClick={() => flow.startOver()}>
          <ArrowLeft size={14} />
          {say("someoneElse")}
        </button>
      </div>
    </>
  );
}

/** The six digits of an authenticator app; the last one sends them. */
function AppCodeField({ flow, code }: { flow: SignInFlow; code: string }) {
  return (
    <div className="stack g6">
      <PinInput
        length={CODE_LENGTH}
        size="lg"
        type="number"
        oneTimeCode
        autoFocus
        value={code}
        onChange={(value) => flow.edit({ code: value })}
        onComplete={(typed) => void flow.sendCode(typed)}
        aria-label={say("code")}
        getInputProps={(index) => ({ "aria-label": `${say("code")} ${index + 1}` })}
        gap={8}
        classNames={{ input: style.pin }}
      />
      <span className="t-12 t-3">{say("codeHint")}</span>
    </div>
  );
}
