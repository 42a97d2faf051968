import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api, data } from "../../api/client";
import { asApiError } from "../../api/errors";
import { words } from "../../shared/i18n/words";
import { Gate } from "./gate";
import style from "./gate.module.css";
import { Problem } from "./sign_in_form";
import en from "./words.en.json";

const say = words(en);
const useToken = () => (useSearch({ strict: false }) as { token?: string }).token ?? "";
const back = (
  <Link className="link t-13" to="/sign-in">
    {say("backToSignIn")}
  </Link>
);
const Done = ({ children }: { children: string }) => (
  <div className="note ok" role="status">
    {children}
  </div>
);
const Send = ({ children, isBusy, disabled }: { children: string; isBusy: boolean; disabled?: boolean }) => (
  <Button type="submit" className={style.tall} fullWidth loading={isBusy} disabled={disabled}>
    {children}
  </Button>
);
const problemOf = (error: Error | null) => (error ? asApiError(error) : undefined);

function PasswordField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <PasswordInput
      size="md"
      label={say("newPassword")}
      description={say("passwordHint")}
      autoComplete="new-password"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{ "aria-label": say("show") }}
    />
  );
}

export function ForgotPassword() {
  const [email, setEmail] = useState("");
  const request = useMutation({ mutationFn: () => data(api.POST("/auth/forgot-password", { body: { email } })) });
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
  const token = useToken();
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
  const token = useToken();
  const verify = useMutation({ mutationFn: () => data(api.POST("/auth/verify-email", { body: { token } })) });
  return (
    <Gate title={say("verifyTitle")} text={say("verifyText")} onSubmit={() => verify.mutate()}>
      <Problem error={problemOf(verify.error)} />
      {verify.isSuccess ? <Done>{say("verified")}</Done> : <Send isBusy={verify.isPending}>{say("verifyButton")}</Send>}
      {back}
    </Gate>
  );
}

export function AcceptInvitation() {
  const token = useToken();
  const [person, setPerson] = useState({ email: "", first_name: "", last_name: "", password: "" });
  const set = (name: keyof typeof person) => (value: string) => setPerson({ ...person, [name]: value });
  const register = useMutation({
    mutationFn: () => data(api.POST("/auth/register", { body: { ...person, invite_token: token || null } })),
  });
  return (
    <Gate title={say("acceptTitle")} text={say("acceptText")} onSubmit={() => register.mutate()}>
      <Problem error={problemOf(register.error)} />
      {register.isSuccess ? (
        <Done>{register.data.message}</Done>
      ) : (
        <>
          <TextInput
            size="md"
            label={say("email")}
            type="email"
            autoComplete="username"
            value={person.email}
            onChange={(event) => set("email")(event.currentTarget.value)}
          />
          <TextInput
            size="md"
            label={say("firstName")}
            autoComplete="given-name"
            value={person.first_name}
            onChange={(event) => set("first_name")(event.currentTarget.value)}
          />
          <TextInput
            size="md"
            label={say("lastName")}
            autoComplete="family-name"
            value={person.last_name}
            onChange={(event) => set("last_name")(event.currentTarget.value)}
          />
          <PasswordField value={person.password} onChange={set("password")} />
          <Send isBusy={register.isPending}>{say("accept")}</Send>
        </>
      )}
      {back}
    </Gate>
  );
}
