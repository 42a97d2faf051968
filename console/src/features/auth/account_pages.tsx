import { TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { sendsMail } from "../../api/session";
import { words } from "../../shared/i18n/words";
import { back, Done, PasswordField, problemOf, Send } from "./account_parts";
import { Gate } from "./gate";
import { useLinkToken } from "./link_token";
import { Problem } from "./sign_in_form";
import en from "./words.en.json";

const say = words(en, "features/auth");
export function ForgotPassword() {
  const [email, setEmail] = useState("");
  const request = useMutation({ mutationFn: () => data(api.POST("/auth/forgot-password", { body: { email } })) });
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
    <Gate title={say("forgotTitle")} text={say("forgotText")} onSubmit={() => request.mutate()}>
      <Problem error={problemOf(request.error)} />
      {request.isSuccess ? (
        <Done>{say("forgotSent")}</Done>
      ) : (
        <>
          <TextInput
            size="md"
            label={say("email")}
            type="email"
            autoComplete="username"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <Send isBusy={request.isPending} disabled={!email}>
            {say("send")}
          </Send>
        </>
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
  return (
    <Gate title={say("resetTitle")} text={say("passwordHint")} onSubmit={() => change.mutate()}>
      <Problem error={problemOf(change.error)} />
      {change.isSuccess ? (
        <Done>{say("resetDone")}</Done>
      ) : (
        <>
          <PasswordField value={password} onChange={setPassword} />
          <Send isBusy={change.isPending} disabled={!password}>
            {say("save")}
          </Send>
        </>
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
      <Problem error={problemOf(verify.error)} />
      {verify.isSuccess ? <Done>{say("verified")}</Done> : <Send isBusy={verify.isPending}>{say("verifyButton")}</Send>}
      {back}
    </Gate>
  );
}
