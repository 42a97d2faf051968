import { Button, Select, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, data } from "../../api/client";
import { homeQuery } from "../../api/queries";
import { Code } from "../../shared/code";
import { emailProblem, useFormChecks } from "../../shared/form_checks";
import { words } from "../../shared/i18n/words";
import { type RoleKey, roleMeaning, roleName } from "../../shared/people/roles";
import { useFields } from "../../shared/use_fields";
import en from "./words.en.json";

const say = words(en, "features/home");
/** A super administrator rules over every organization of the server: nobody becomes one in passing. */
const OFFERED: RoleKey[] = ["tenant_admin", "agent_developer", "agent_user", "viewer"];

/** Email and role; without a mail server the link is shown, to be passed on by hand. */
export function InviteForm({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<RoleKey>("agent_developer");
  const invite = useMutation({
    mutationFn: () => data(api.POST("/users/invite", { body: { email: email.trim(), role } })),
  });
  const { form, rest, problemOf } = useFields(invite.error, ["email", "role"]);
  const { check, reset, wrong } = useFormChecks(form, { email: emailProblem(email) });
  // Only now: the step would vanish with the link that is still to be copied. The server may answer for ten seconds as
  // before, so the step is ticked off here.
  const leave = () => {
    onDone();
    client.setQueryData(homeQuery.queryKey, (home) =>
      home && home.checklist.colleague !== null ? { ...home, checklist: { ...home.checklist, colleague: true } } : home,
    );
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (check()) invite.mutate();
  };
  if (invite.data)
    return (
      <div className="stack g12">
        <div className="note ok" role="status">
          {say(invite.data.invite_url ? "invitedByLink" : "invitedByMail", { email: invite.data.email })}
        </div>
        {invite.data.invite_url && <Code label={say("inviteLink")} text={invite.data.invite_url} />}
        <div className="row g8 wrap">
          <Button
            size="xs"
            variant="default"
            className="push"
            onClick={() => {
              setEmail("");
              reset();
              invite.reset();
            }}
          >
            {say("inviteAnother")}
          </Button>
          <Button size="xs" onClick={leave}>
            {say("inviteDone")}
          </Button>
        </div>
      </div>
    );
  return (
    <form className="stack g12" ref={form} onSubmit={submit} noValidate>
      {rest && (
        <div className="note bad" role="alert">
          {rest}
        </div>
      )}
      <TextInput
        label={say("inviteEmail")}
        type="email"
        autoComplete="off"
        data-autofocus
        error={wrong("email") ?? problemOf("email")}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Select
        label={say("inviteRole")}
        description={roleMeaning(role)}
        comboboxProps={{ withinPortal: false }}
        data={OFFERED.map((value) => ({ value, label: roleName(value) }))}
        error={problemOf("role")}
        value={role}
        onChange={(chosen) => chosen && setRole(chosen as RoleKey)}
      />
      <Button type="submit" className="push" loading={invite.isPending}>
        {say("invite")}
      </Button>
    </form>
  );
}
