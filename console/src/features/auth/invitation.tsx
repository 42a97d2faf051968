import { TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, data } from "../../api/client";
import type { components } from "../../api/schema";
import { signIn } from "../../api/session";
import { words } from "../../shared/i18n/words";
import { RowsLoading } from "../../shared/states/states";
import { back, Done, PasswordField, problemOf, Send } from "./account_parts";
import { Gate } from "./gate";
import { forgetLinkToken, useLinkToken } from "./link_token";
import { Problem } from "./sign_in_form";
import en from "./words.en.json";

const say = words(en, "features/auth");
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
  const problem = problemOf(invitation.error);
  const isVoid = !token || problem?.status === 422;
  return (
    <Gate
      title={say("acceptTitle")}
      text={isVoid ? say(token ? "acceptVoid" : "acceptIncomplete") : ""}
      onSubmit={() => undefined}
    >
      {!isVoid && (problem ? <Problem error={problem} /> : <RowsLoading columns={[200]} />)}
      {back}
    </Gate>
  );
}

function Account({ token, invitation }: { token: string; invitation: Invitation }) {
  const navigate = useNavigate();
  const { email, organization, invited_by: inviter } = invitation;
  const [person, setPerson] = useState({ first_name: "", last_name: "", password: "" });
  const [wasSent, setSent] = useState(false);
  const missing = (name: keyof typeof person) => (wasSent && !person[name].trim() ? say("missing") : undefined);
  const isComplete = Object.values(person).every((value) => value.trim());
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
  const submit = () => {
    setSent(true);
    if (isComplete) register.mutate();
  };
  const role = say(invitation.role);
  const text = inviter ? say("invitedBy", { inviter, organization, role }) : say("invitedTo", { organization, role });
  return (
    <Gate title={say("joinTitle", { organization })} text={text} onSubmit={submit}>
      <Problem error={problemOf(register.error)} />
      {register.isSuccess ? (
        <Done>{register.data.message}</Done>
      ) : (
        <>
          <TextInput size="md" label={say("email")} description={say("emailFixed")} value={email} readOnly />
          <div className="row g12 top">
            <TextInput
              className="grow"
              size="md"
              label={say("firstName")}
              autoComplete="given-name"
              autoFocus
              error={missing("first_name")}
              value={person.first_name}
              onChange={(event) => set("first_name")(event.currentTarget.value)}
            />
            <TextInput
              className="grow"
              size="md"
              label={say("lastName")}
              autoComplete="family-name"
              error={missing("last_name")}
              value={person.last_name}
              onChange={(event) => set("last_name")(event.currentTarget.value)}
            />
          </div>
          <PasswordField value={person.password} error={missing("password")} onChange={set("password")} />
          <Send isBusy={register.isPending}>{say("accept")}</Send>
        </>
      )}
      {back}
    </Gate>
  );
}
