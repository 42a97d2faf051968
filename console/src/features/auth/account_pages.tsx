import { Button, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api, unwrapData } from "../../api/client";
import { canSendMail, loadLinkState } from "../../api/session";
import { findEmailProblem, findPasswordProblem, useFormChecks } from "../../shared/form_checks";
import { createTranslator } from "../../shared/i18n/words";
import { useFieldProblems } from "../../shared/use_fields";
import { back, DoneNote, PasswordField, SignInLink, SubmitButton, toAccountProblem } from "./account_parts";
import { GatePage } from "./gate";
import style from "./gate.module.css";
import { forgetLinkToken, isLinkRefused, useLinkToken } from "./link_token";
import { SignInProblem } from "./sign_in_problem";
import en from "./words.en.json";

const say = createTranslator(en, "features/auth");

export const ForgotPassword = () => (
  <AskForLink
    title={say("forgotTitle")}
    text={say("forgotText")}
    done={say("forgotSent")}
    ask={(email) => unwrapData(api.POST("/auth/forgot-password", { body: { email } }))}
    withoutMail={
      <details className="t-13">
        <summary>{say("runServer")}</summary>
        {say("forgotCommand")} <code className="mono">retinue admin reset-password</code>
      </details>
    }
  />
);

type AskProps = {
  title: string;
  text: string;
  done: string;
  ask: (email: string) => Promise<unknown>;
  withoutMail?: ReactNode;
};

/** The form that has a link mailed; where no mail goes out, it says who can help. */
function AskForLink({ title, text, done, ask, withoutMail }: AskProps) {
  const [email, setEmail] = useState("");
  const request = useMutation({ mutationFn: () => ask(email) });
  const { form, rest, problemOf: wrong } = useFieldProblems<"email", HTMLDivElement>(request.error, ["email"]);
  const { check, wrong: unfit } = useFormChecks(form, { email: findEmailProblem(email) });
  const { data: isMailSent } = useQuery({ queryKey: ["auth", "mail"], queryFn: canSendMail });
  if (isMailSent === false)
    return (
      <GatePage title={title} text={say("forgotNoMail")} onSubmit={() => undefined}>
        {withoutMail}
        {back}
      </GatePage>
    );
  return (
    <GatePage title={title} text={!request.isSuccess && text} onSubmit={() => check() && request.mutate()}>
      {rest && <SignInProblem error={toAccountProblem(request.error)} />}
      {request.isSuccess ? (
        <DoneNote>{done}</DoneNote>
      ) : (
        <div className={style.fields} ref={form}>
          <TextInput
            size="md"
            label={say("email")}
            type="email"
            autoComplete="username"
            error={unfit("email") ?? wrong("email")}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <SubmitButton isBusy={request.isPending}>{say("send")}</SubmitButton>
        </div>
      )}
      {back}
    </GatePage>
  );
}

export function ResetPassword() {
  const token = useLinkToken();
  const [password, setPassword] = useState("");
  const change = useMutation({
    mutationFn: () => unwrapData(api.POST("/auth/reset-password", { body: { token, new_password: password } })),
    onSuccess: forgetLinkToken,
  });
  const { data: state } = useQuery({
    queryKey: ["auth", "link", token],
    queryFn: () => loadLinkState("reset_password", token),
    enabled: Boolean(token) && !change.isSuccess,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const {
    form,
    rest,
    problemOf: wrong,
  } = useFieldProblems<"new_password", HTMLDivElement>(change.error, ["new_password"]);
  const { check, wrong: unfit } = useFormChecks(form, { new_password: findPasswordProblem(password) });
  const isVoid = !token || state === "wrong" || isLinkRefused(toAccountProblem(change.error));
  if (isVoid && !change.isSuccess)
    return (
      <GatePage title={say("resetVoidTitle")} text={say("resetVoid")} onSubmit={() => undefined}>
        <Button className={style.tall} fullWidth component={Link} to="/forgot-password">
          {say("newLink")}
        </Button>
        {back}
      </GatePage>
    );
  return (
    <GatePage
      title={say(change.isSuccess ? "resetDoneTitle" : "resetTitle")}
      text={!change.isSuccess && say("resetText")}
      onSubmit={() => check() && change.mutate()}
    >
      {rest && <SignInProblem error={toAccountProblem(change.error)} />}
      {change.isSuccess ? (
        <>
          <DoneNote>{say("resetDone")}</DoneNote>
          <SignInLink />
        </>
      ) : (
        <>
          <div className={style.fields} ref={form}>
            <PasswordField
              value={password}
              error={unfit("new_password") ?? wrong("new_password")}
              onChange={setPassword}
            />
            <SubmitButton isBusy={change.isPending}>{say("save")}</SubmitButton>
          </div>
          {back}
        </>
      )}
    </GatePage>
  );
}

export function VerifyEmail() {
  const token = useLinkToken();
  const verify = useMutation({
    mutationFn: () => unwrapData(api.POST("/auth/verify-email", { body: { token } })),
    onSuccess: forgetLinkToken,
  });
  const problem = toAccountProblem(verify.error);
  if (!token || isLinkRefused(problem))
    return (
      <AskForLink
        title={say("resetVoidTitle")}
        text={say("resetVoid")}
        done={say("verifySent")}
        ask={(email) => unwrapData(api.POST("/auth/resend-verification", { body: { email } }))}
      />
    );
  return (
    <GatePage
      title={say(verify.isSuccess ? "verifiedTitle" : "verifyTitle")}
      text={!verify.isSuccess && say("verifyText")}
      onSubmit={() => verify.mutate()}
    >
      <SignInProblem error={problem} />
      {verify.isSuccess ? (
        <>
          <DoneNote>{say("verified")}</DoneNote>
          <SignInLink />
        </>
      ) : (
        <>
          <SubmitButton isBusy={verify.isPending}>{say("verifyButton")}</SubmitButton>
          {back}
        </>
      )}
    </GatePage>
  );
}
