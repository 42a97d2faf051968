import { TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, data } from "../../api/client";
import type { components } from "../../api/schema";
import { sendsMail, signIn } from "../../api/session";
import { passwordProblem, requiredProblem, useFormChecks } from "../../shared/form_checks";
import { words } from "../../shared/i18n/words";
import { roleName } from "../../shared/people/roles";
import { RowsLoading } from "../../shared/states/states";
import { useFields } from "../../shared/use_fields";
import { asProblem, back, Done, PasswordField, Send } from "./account_parts";
import { Gate } from "./gate";
import style from "./gate.module.css";
import { forgetLinkToken, useLinkToken } from "./link_token";
import { SignInProblem } from "./sign_in_problem";
import en from "./words.en.json";

const say = words(en, "features/auth");
const FIELDS = ["first_name", "last_name", "password", "email"] as const;
type Field = (typeof FIELDS)[number];
type Invitation = components["schemas"]["InvitationDetails"];

/** Who invited whom to what, and the account that comes of it. */
export function AcceptInvitation() {
  const token = useLinkToken();
  const invitation = useQuery({
    queryKey: ["auth", "invitation", token],
    queryFn: () => data(api.POST("/auth/invitation", { body: { invite_token: token } })),
    enabled: Boolean(token),
    retry: false,
  });
  if (invitation.data) return <Account token={token} invitation={invitation.data} />;
  const problem = asProblem(invitation.error);
  const isVoid = !token || problem?.status === 422;
  return (
    <Gate
      title={say(isVoid ? "acceptVoidTitle" : "acceptTitle")}
      text={isVoid ? say(token ? "acceptVoid" : "acceptIncomplete") : ""}
      onSubmit={() => undefined}
    >
      {!isVoid && (problem ? <SignInProblem error={problem} /> : <RowsLoading columns={[200]} />)}
      {back}
    </Gate>
  );
}

function Account({ token, invitation }: { token: string; invitation: Invitation }) {
  const navigate = useNavigate();
  const { email, organization, invited_by: inviter } = invitation;
  const [person, setPerson] = useState({ first_name: "", last_name: "", password: "" });
  const set = (name: keyof typeof person) => (value: string) => setPerson({ ...person, [name]: value });
  const register = useMutation({
    mutationFn: async () => {
      const made = await data(api.POST("/auth/register", { body: { ...person, email, invite_token: token } }));
      forgetLinkToken();
      // An instance may ask for a confirmed address first: then the message of the account says what to do.
      await signIn(email, person.password, false).then(
        () => navigate({ to: "/", replace: true }),
        () => undefined,
      );
      return made;
    },
  });
  const { form, rest, problemOf: refused } = useFields<Field, HTMLDivElement>(register.error, FIELDS);
  const { check, wrong: unfit } = useFormChecks(form, {
    first_name: requiredProblem(person.first_name),
    last_name: requiredProblem(person.last_name),
    password: passwordProblem(person.password),
  });
  const wrong = (name: keyof typeof person) => unfit(name) ?? refused(name);
  const { data: isMailSent } = useQuery({
    queryKey: ["auth", "mail"],
    queryFn: sendsMail,
    enabled: register.isSuccess,
  });
  const submit = () => {
    if (check()) register.mutate();
  };
  const role = roleName(invitation.role);
  const text = inviter ? say("invitedBy", { inviter, organization, role }) : say("invitedTo", { organization, role });
  return (
    <Gate title={say("joinTitle", { organization })} text={text} onSubmit={submit}>
      {rest && <SignInProblem error={asProblem(register.error)} />}
      {register.isSuccess ? (
        <Done>
          {say(register.data.email_verified ? "accountReady" : isMailSent === false ? "accountAsk" : "accountMade")}
        </Done>
      ) : (
        <div className={style.fields} ref={form}>
          <TextInput
            size="md"
            label={say("email")}
            description={say("emailFixed")}
            error={refused("email")}
            value={email}
            readOnly
          />
          <div className="row g12 top">
            <TextInput
              className="grow"
              size="md"
              label={say("firstName")}
              autoComplete="given-name"
              autoFocus
              error={wrong("first_name")}
              value={person.first_name}
              onChange={(event) => set("first_name")(event.currentTarget.value)}
            />
            <TextInput
              className="grow"
              size="md"
              label={say("lastName")}
              autoComplete="family-name"
              error={wrong("last_name")}
              value={person.last_name}
              onChange={(event) => set("last_name")(event.currentTarget.value)}
            />
          </div>
          <PasswordField value={person.password} error={wrong("password")} onChange={set("password")} />
          <Send isBusy={register.isPending}>{say("accept")}</Send>
        </div>
      )}
      {back}
    </Gate>
  );
}
