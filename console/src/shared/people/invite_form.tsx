import { Button, Select, Textarea } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { api, unwrapData } from "../../api/client";
import { homeQuery, meQuery } from "../../api/queries";
import { CopyableCode } from "../code";
import { findEmailProblem, findRequiredProblem, useFormChecks } from "../form_checks";
import { createTranslator } from "../i18n/words";
import { type Invited, inviteEach, splitAddresses } from "./invitations";
import type { RoleKey } from "./role_keys";
import { describeRole, listGrantableRoles, roleNameOf } from "./roles";
import en from "./words.en.json";

const say = createTranslator(en, "shared/people");

/** The form with the focus is gone by then. */
const focusWhenShown = (button: HTMLButtonElement | null) => button?.focus();

/** What is wrong with addresses before they are sent: "x: Must be a single email address." */
function findAddressProblem(addresses: string[]): string | undefined {
  const [only, ...others] = addresses;
  if (!others.length) return only ? findEmailProblem(only) : findRequiredProblem("");
  const wrong = addresses.find((email) => findEmailProblem(email));
  return wrong && say("inviteNot", { email: wrong, problem: findEmailProblem(wrong) ?? "" });
}

/** Invites all of them; the refused ones are left to be corrected, and the links of the others stay. */
function useInvitations(role: RoleKey, onRefused: (emails: string[]) => void) {
  const client = useQueryClient();
  const [invited, setInvited] = useState<Invited[]>([]);
  const invite = useMutation({
    mutationFn: (addresses: string[]) =>
      inviteEach(addresses, (email) => unwrapData(api.POST("/users/invite", { body: { email, role } }))),
    onSuccess: (answer) => {
      setInvited((before) => [...before, ...answer.invited]);
      onRefused(answer.refused.map(({ email }) => email));
      void client.invalidateQueries({ queryKey: ["users", "people", "invitations"] });
    },
  });
  const refused = invite.data?.refused ?? [];
  const isOne = refused.length === 1 && invited.length === 0;
  const refusal = refused.map((one) => (isOne ? one.problem : say("inviteNot", one))).join(" ");
  const startAgain = () => {
    setInvited([]);
    invite.reset();
  };
  return { invited, refusal, isBusy: invite.isPending, inviteAll: invite.mutate, startAgain };
}

/** Addresses and a role; without a mail server each link is shown, to be passed on by hand. */
export function InviteForm({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const { data: me } = useQuery(meQuery);
  const form = useRef<HTMLFormElement>(null);
  const [text, setText] = useState("");
  const [role, setRole] = useState<RoleKey>("agent_developer");
  const addresses = splitAddresses(text);
  const { invited, refusal, isBusy, inviteAll, startAgain } = useInvitations(role, (emails) => {
    setText(emails.join("\n"));
    // The button that had the focus was off while it worked.
    form.current?.querySelector("textarea")?.focus();
  });
  const { check, reset, wrong } = useFormChecks(form, { emails: findAddressProblem(addresses) });
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (check()) inviteAll(addresses);
  };
  // Only now: the step would vanish with the link that is still to be copied. The server may answer for ten seconds as
  // before, so the step is ticked off here.
  const closeForm = () => {
    onDone();
    client.setQueryData(homeQuery.queryKey, (home) =>
      home && home.checklist.colleague !== null ? { ...home, checklist: { ...home.checklist, colleague: true } } : home,
    );
  };
  if (invited.length > 0 && !refusal)
    return (
      <div className="stack g12">
        <InvitedNotes invited={invited} />
        <div className="row g8 wrap">
          <Button
            size="xs"
            variant="default"
            className="push"
            onClick={() => {
              reset();
              startAgain();
            }}
          >
            {say("inviteAnother")}
          </Button>
          <Button size="xs" ref={focusWhenShown} onClick={closeForm}>
            {say("inviteDone")}
          </Button>
        </div>
      </div>
    );
  return (
    <form className="stack g12" ref={form} onSubmit={handleSubmit} noValidate>
      <InvitedNotes invited={invited} />
      <Textarea
        label={say("inviteEmails")}
        description={say("inviteEmailsHint")}
        autoComplete="off"
        data-autofocus
        autosize
        minRows={1}
        maxRows={6}
        error={wrong("emails") ?? (refusal || undefined)}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Select
        label={say("inviteRole")}
        description={describeRole(role)}
        comboboxProps={{ withinPortal: false }}
        // A super administrator rules over every organization of the server: nobody becomes one in passing.
        data={listGrantableRoles(me?.role)
          .filter((value) => value !== "super_admin")
          .map((value) => ({ value, label: roleNameOf(value) }))}
        value={role}
        onChange={(chosen) => chosen && setRole(chosen as RoleKey)}
      />
      <Button type="submit" className="push" loading={isBusy}>
        {say("invite")}
      </Button>
    </form>
  );
}

/** Who gets a mail, and the links of the others. */
function InvitedNotes({ invited }: { invited: Invited[] }) {
  const mailed = invited.filter((one) => !one.invite_url).map(({ email }) => email);
  return (
    <>
      {mailed.length > 0 && (
        <div className="note ok" role="status">
          {say("invitedByMail", { emails: mailed.join(", ") })}
        </div>
      )}
      {invited.map(({ email, invite_url }) =>
        invite_url ? (
          <div key={email} className="stack g8">
            <div className="note ok" role="status">
              {say("invitedByLink", { email })}
            </div>
            <CopyableCode label={say("inviteLink", { email })} text={invite_url} />
          </div>
        ) : null,
      )}
    </>
  );
}
