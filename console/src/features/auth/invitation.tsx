import { TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import { canSendMail, signIn } from "../../api/session";
import { findPasswordProblem, findRequiredProblem, useFormChecks } from "../../shared/form_checks";
import { createTranslator } from "../../shared/i18n/words";
import { roleNameOf } from "../../shared/people/roles";
import { RowSkeletons } from "../../shared/states/states";
import { useFieldProblems } from "../../shared/use_fields";
import { back, DoneNote, PasswordField, SubmitButton, toAccountProblem } from "./account_parts";
import { GatePage } from "./gate";
import style from "./gate.module.css";
import { forgetLinkToken, useLinkToken } from "./link_token";
import { SignInProblem } from "./sign_in_problem";
import en from "./words.en.json";

const say = createTranslator(en, "features/auth");
const FIELDS = ["first_name", "last_name", "password", "email"] as const;
type Field = (typeof FIELDS)[number];
type Invitation = components["schemas"]["InvitationDetails"];

/** Who invited whom to what, and the account that comes of it. */
export function AcceptInvitation() {
  const token = useLinkToken();
  const invitation = useQuery({
    queryKey: ["auth", "invitation", token],
    queryFn: () => unwrapData(api.POST("/auth/invitation", { body: { invite_token: token } })),
    enabled: Boolean(token),
    retry: false,
  });
  if (invitation.data) return <InvitedAccountForm token={token} invitation={invitation.data} />;
  const problem = toAccountProblem(invitation.error);
  const isVoid = !token || problem?.status === 422;
  return (
    <GatePage
      title={say(isVoid ? "acceptVoidTitle" : "acceptTitle")}
      text={isVoid ? say(token ? "acceptVoid" : "acceptIncomplete") : ""}
      onSubmit={() => undefined}
    >
      {!isVoid && (problem ? <SignInProblem error={problem} /> : <RowSkeletons columns={[200]} />)}
      {back}
    </GatePage>
  );
}

function InvitedAccountForm({ token, invitation }: { token: string; invitation: Invitation }) {
  const navigate = useNavigate();
  const { email, organization, invited_by: inviter } = invitation;
  const [person, setPerson] = useState({ first_name: "", last_name: "", password: "" });
  const setField = (name: keyof typeof person) => (value: string) => setPerson({ ...person, [name]: value });
  const register = useMutation({
    mutationFn: async () => {
      const made = await unwrapData(api.POST("/auth/register", { body: { ...person, email, invite_token: token } }));
      forgetLinkToken();
      // An instance may ask for a confirmed address first: then the message of the account says what to do.
      await signIn(email, person.password, false).then(
        () => navigate({ to: "/", replace: true }),
        () => undefined,
      );
      return made;
    },
  });
  const { form, rest, problemOf: refused } = useFieldProblems<Field, HTMLDivElement>(register.error, FIELDS);
  const { check, wrong: unfit } = useFormChecks(form, {
    first_name: findRequiredProblem(person.first_name),
    last_name: findRequiredProblem(person.last_name),
    password: findPasswordProblem(person.password),
  });
  const problemOfField = (name: keyof typeof person) => unfit(name) ?? refused(name);
  const { data: isMailSent } = useQuery({
    queryKey: ["auth", "mail"],
    queryFn: canSendMail,
    enabled: register.isSuccess,
  });
  const submitAccount = () => {
    if (check()) register.mutate();
  };
  const role = roleNameOf(invitation.role);
  const text = inviter ? say("invitedBy", { inviter, organization, role }) : say("invitedTo", { organization, role });
  return (
    <GatePage title={say("joinTitle", { organization })} text={text} onSubmit={submitAccount}>
      {rest && <SignInProblem error={toAccountProblem(register.error)} />}
      {register.isSuccess ? (
        <DoneNote>
          {say(register.data.email_verified ? "accountReady" : isMailSent === false ? "accountAsk" : "accountMade")}
        </DoneNote>
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
              error={problemOfField("first_name")}
              value={person.first_name}
              onChange={(event) => setField("first_name")(event.currentTarget.value)}
            />
            <TextInput
              className="grow"
              size="md"
              label={say("lastName")}
              autoComplete="family-name"
              error={problemOfField("last_name")}
              value={person.last_name}
              onChange={(event) => setField("last_name")(event.currentTarget.value)}
            />
          </div>
          <PasswordField value={person.password} error={problemOfField("password")} onChange={setField("password")} />
          <SubmitButton isBusy={register.isPending}>{say("accept")}</SubmitButton>
        </div>
      )}
      {back}
    </GatePage>
  );
}
