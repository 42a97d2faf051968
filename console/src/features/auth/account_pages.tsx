import { TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, data } from "../../api/client";
import { sendsMail, stateOfLink } from "../../api/session";
import { emailProblem, passwordProblem, useFormChecks } from "../../shared/form_checks";
import { words } from "../../shared/i18n/words";
import { useFields } from "../../shared/use_fields";
import { asProblem, back, Done, PasswordField, Send } from "./account_parts";
import { Gate } from "./gate";
import style from "./gate.module.css";
import { useLinkToken } from "./link_token";
import { SignInProblem } from "./sign_in_problem";
import en from "./words.en.json";

const say = words(en, "features/auth");
export function ForgotPassword() {
  const [email, setEmail] = useState("");
  const request = useMutation({ mutationFn: () => data(api.POST("/auth/forgot-password", { body: { email } })) });
  const { form, rest, problemOf: wrong } = useFields<"email", HTMLDivElement>(request.error, ["email"]);
  const { check, wrong: unfit } = useFormChecks(form, { email: emailProblem(email) });
  const { data: isMailSent } = useQuery({ queryKey: ["auth", "mail"], queryFn: sendsMail });
  if (isMailSent === false)
    return (
      <Gate title={say("forgotTitle")} text={say("forgotNoMail")} onSubmit={() => undefined}>
        <div className="note">
          <span>
            {say("forgotCommand")} <code className="mono">retinue admin reset-password</code>
          </span>
        </div>
        {back}
      </Gate>
    );
  return (
    <Gate title={say("forgotTitle")} text={say("forgotText")} onSubmit={() => check() && request.mutate()}>
      {rest && <SignInProblem error={asProblem(request.error)} />}
      {request.isSuccess ? (
        <Done>{say("forgotSent")}</Done>
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
  if (!change.isSuccess && (!token || state === "wrong"))
    return (
      <Gate title={say("resetVoidTitle")} text={say("resetVoid")} onSubmit={() => undefined}>
        <Link className="link t-13" to="/forgot-password">
          {say("forgotTitle")}
        </Link>
        {back}
      </Gate>
    );
  return (
    <Gate title={say("resetTitle")} text={say("passwordHint")} onSubmit={() => check() && change.mutate()}>
      {rest && <SignInProblem error={asProblem(change.error)} />}
      {change.isSuccess ? (
        <Done>{say("resetDone")}</Done>
      ) : (
        <div className={style.fields} ref={form}>
          <PasswordField
            value={password}
            error={unfit("new_password") ?? wrong("new_password")}
            onChange={setPassword}
          />
          <Send isBusy={change.isPending}>{say("save")}</Send>
        </div>
      )}
      {back}
    </Gate>
  );
}

export function VerifyEmail() {
  const token = useLinkToken();
  const verify = useMutation({ mutationFn: () => data(api.POST("/auth/verify-email", { body: { token } })) });
  return (
    <Gate title={say("verifyTitle")} text={say("verifyText")} onSubmit={() => verify.mutate()}>
      <SignInProblem error={asProblem(verify.error)} />
      {verify.isSuccess ? <Done>{say("verified")}</Done> : <Send isBusy={verify.isPending}>{say("verifyButton")}</Send>}
      {back}
    </Gate>
  );
}
