import { Button, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api, data } from "../../api/client";
import { sendsMail, stateOfLink } from "../../api/session";
import { emailProblem, passwordProblem, useFormChecks } from "../../shared/form_checks";
import { words } from "../../shared/i18n/words";
import { useFields } from "../../shared/use_fields";
import { asProblem, back, Done, PasswordField, Send, ToSignIn } from "./account_parts";
import { Gate } from "./gate";
import style from "./gate.module.css";
import { forgetLinkToken, isLinkRefused, useLinkToken } from "./link_token";
import { SignInProblem } from "./sign_in_problem";
import en from "./words.en.json";

const say = words(en, "features/auth");

export const ForgotPassword = () => (
  <AskForLink
    title={say("forgotTitle")}
    text={say("forgotText")}
    done={say("forgotSent")}
    ask={(email) => data(api.POST("/auth/forgot-password", { body: { email } }))}
    withoutMail={
      <div className="note">
        <span>
          {say("forgotCommand")} <code className="mono">retinue admin reset-password</code>
        </span>
      </div>
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
  const { form, rest, problemOf: wrong } = useFields<"email", HTMLDivElement>(request.error, ["email"]);
  const { check, wrong: unfit } = useFormChecks(form, { email: emailProblem(email) });
  const { data: isMailSent } = useQuery({ queryKey: ["auth", "mail"], queryFn: sendsMail });
  if (isMailSent === false)
    return (
      <Gate title={title} text={say("forgotNoMail")} onSubmit={() => undefined}>
        {withoutMail}
        {back}
      </Gate>
    );
  return (
    <Gate title={title} text={!request.isSuccess && text} onSubmit={() => check() && request.mutate()}>
      {rest && <SignInProblem error={asProblem(request.error)} />}
      {request.isSuccess ? (
        <Done>{done}</Done>
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
          <Send isBusy={request.isPending}>{say("send")}</Send>
        </div>
      )}
      {back}
    </Gate>
  );
}

export function ResetPassword() {
  const token = useLinkToken();
  const [password, setPassword] = useState("");
  const change = useMutation({
    mutationFn: () => data(api.POST("/auth/reset-password", { body: { token, new_password: password } })),
    onSuccess: forgetLinkToken,
  });
  const { data: state } = useQuery({
    queryKey: ["auth", "link", token],
    queryFn: () => stateOfLink("reset_password", token),
    enabled: Boolean(token) && !change.isSuccess,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const { form, rest, problemOf: wrong } = useFields<"new_password", HTMLDivElement>(change.error, ["new_password"]);
  const { check, wrong: unfit } = useFormChecks(form, { new_password: passwordProblem(password) });
  const isVoid = !token || state === "wrong" || isLinkRefused(asProblem(change.error));
  if (isVoid && !change.isSuccess)
    return (
      <Gate title={say("resetVoidTitle")} text={say("resetVoid")} onSubmit={() => undefined}>
        <Button className={style.tall} fullWidth component={Link} to="/forgot-password">
          {say("newLink")}
        </Button>
        {back}
      </Gate>
    );
  return (
    <Gate
      title={say(change.isSuccess ? "resetDoneTitle" : "resetTitle")}
      text={!change.isSuccess && say("resetText")}
      onSubmit={() => check() && change.mutate()}
    >
      {rest && <SignInProblem error={asProblem(change.error)} />}
      {change.isSuccess ? (
        <>
          <Done>{say("resetDone")}</Done>
          <ToSignIn />
        </>
      ) : (
        <>
          <div className={style.fields} ref={form}>
            <PasswordField
              value={password}
              error={unfit("new_password") ?? wrong("new_password")}
              onChange={setPassword}
            />
            <Send isBusy={change.isPending}>{say("save")}</Send>
          </div>
          {back}
        </>
      )}
    </Gate>
  );
}

export function VerifyEmail() {
  const token = useLinkToken();
  const verify = useMutation({
    mutationFn: () => data(api.POST("/auth/verify-email", { body: { token } })),
    onSuccess: forgetLinkToken,
  });
  const problem = asProblem(verify.error);
  if (!token || isLinkRefused(problem))
    return (
      <AskForLink
        title={say("resetVoidTitle")}
        text={say("resetVoid")}
        done={say("verifySent")}
        ask={(email) => data(api.POST("/auth/resend-verification", { body: { email } }))}
      />
    );
  return (
    <Gate
      title={say(verify.isSuccess ? "verifiedTitle" : "verifyTitle")}
      text={!verify.isSuccess && say("verifyText")}
      onSubmit={() => verify.mutate()}
    >
      <SignInProblem error={problem} />
      {verify.isSuccess ? (
        <>
          <Done>{say("verified")}</Done>
          <ToSignIn />
        </>
      ) : (
        <>
          <Send isBusy={verify.isPending}>{say("verifyButton")}</Send>
          {back}
        </>
      )}
    </Gate>
  );
}
