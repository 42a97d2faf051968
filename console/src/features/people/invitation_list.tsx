import MailPlus from "icon:mail-plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { asApiError } from "../../api/errors";
import { CopyableCode } from "../../shared/code";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { usePersonName } from "../../shared/people/names";
import { roleNameOf } from "../../shared/people/roles";
import { FailureState } from "../../shared/states/states";
import { formatDay, formatTimeLeft } from "../../shared/time";
import style from "./people.module.css";
import { type Invitation, invitationsQuery, resendInvitation, revokeInvitation, usePeopleChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/people");

/** Who was invited and has not come yet. */
export function InvitationList() {
  const { data, error, refetch } = useQuery(invitationsQuery);
  const open = data?.data.filter(({ status }) => status !== "accepted") ?? [];
  if (error && !data) return <FailureState error={error} onRetry={() => void refetch()} />;
  if (!open.length) return null;
  return (
    <section className={style.part} aria-labelledby="invited">
      <div className="row g8">
        <h2 className="t-sec" id="invited">
          {say("invited")}
        </h2>
        <span className="t-12 t-3">{say("invitedHint")}</span>
      </div>
      <ul className="card">
        {open.map((invitation) => (
          <InvitationRow key={invitation.id} invitation={invitation} />
        ))}
      </ul>
    </section>
  );
}

function InvitationRow({
  invitation: { id, email, role, status, invited_by, expires_at },
}: {
  invitation: Invitation;
}) {
  const by = usePersonName(invited_by);
  const resend = usePeopleChange(resendInvitation);
  const revoke = usePeopleChange(revokeInvitation);
  const error = resend.error ?? revoke.error;
  return (
    <li className={style.line}>
      <MailPlus size={15} />
      <span className="stack grow">
        <span className="t-13 t-500 cut">{email}</span>
        <span className="t-12 t-3 cut">{say("invitedAs", { role: roleNameOf(role), by })}</span>
        {error && (
          <span className={`t-12 ${style.problem}`} role="alert">
            {asApiError(error).message}
          </span>
        )}
      </span>
      {status === "expired" ? (
        <StatusPill tone="warn">{say("expired", { day: formatDay(expires_at) })}</StatusPill>
      ) : (
        <span className="t-12 t-3">{say("daysLeft", { left: formatTimeLeft(expires_at) })}</span>
      )}
      <span className="row g6 fix">
        <Button
          size="xs"
          variant="default"
          aria-label={say("resendTo", { email })}
          loading={resend.isPending}
          onClick={() => resend.mutate(id)}
        >
          {say("resend")}
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-label={say("revokeFor", { email })}
          loading={revoke.isPending}
          onClick={() => revoke.mutate(id)}
        >
          {say("revoke")}
        </Button>
      </span>
      {resend.data && (
        <div className={style.full}>
          {resend.data.invite_url ? (
            <CopyableCode label={say("newLink", { email })} text={resend.data.invite_url} />
          ) : (
            <span className="t-12 t-2" role="status">
              {say("resent", { email })}
            </span>
          )}
        </div>
      )}
    </li>
  );
}
