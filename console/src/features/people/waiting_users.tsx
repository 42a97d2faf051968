import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { meQuery } from "../../api/queries";
import { ConfirmDialog } from "../../shared/confirm";
import { createTranslator } from "../../shared/i18n/words";
import { Avatar } from "../../shared/marks/avatar";
import { roleNameOf } from "../../shared/people/roles";
import { formatTimeSince } from "../../shared/time";
import { showToast } from "../../shared/toast/toasts";
import { findObstacle } from "./authority";
import style from "./people.module.css";
import { approveUser, deleteUser, type User, usePeopleChange, waitingUsersQuery } from "./queries";
import { fullNameOf } from "./user_words";
import en from "./words.en.json";

const say = createTranslator(en, "features/people");

/** Accounts that registered by themselves: until somebody approves them, they can do nothing. */
export function WaitingUsers({ tenantId }: { tenantId: string | undefined }) {
  const { data: waiting } = useQuery(waitingUsersQuery(tenantId));
  if (!waiting?.users.length) return null;
  return (
    <section className={style.part} aria-labelledby="waiting">
      <div className="row g8">
        <h2 className="t-sec" id="waiting">
          {say("waitingTitle")}
        </h2>
        <span className="t-12 t-3">{say("waitingHint", { count: waiting.total })}</span>
      </div>
      <ul className="card">
        {waiting.users.map((user) => (
          <WaitingUser key={user.id} user={user} />
        ))}
      </ul>
    </section>
  );
}

function WaitingUser({ user }: { user: User }) {
  const { data: me } = useQuery(meQuery);
  const approve = usePeopleChange(approveUser);
  const [isRejecting, setRejecting] = useState(false);
  const name = fullNameOf(user);
  const approveAndSay = () => approve.mutate(user.id, { onSuccess: () => showToast(say("approved", { name })) });
  return (
    <li className={style.line}>
      <Avatar name={name} />
      <span className="stack grow">
        <span className="t-13 t-500 cut">{name}</span>
        <span className="t-12 t-3 cut">
          {user.email} · {say("registered", { role: roleNameOf(user.role), when: formatTimeSince(user.created_at) })}
        </span>
        {approve.error && (
          <span className={`t-12 ${style.problem}`} role="alert">
            {asApiError(approve.error).message}
          </span>
        )}
      </span>
      {!findObstacle(me, user) && (
        <span className="row g6 fix">
          <Button size="xs" variant="default" onClick={() => setRejecting(true)}>
            {say("reject")}
          </Button>
          <Button size="xs" loading={approve.isPending} onClick={approveAndSay}>
            {say("approve")}
          </Button>
        </span>
      )}
      {isRejecting && <RejectDialog user={user} onClose={() => setRejecting(false)} />}
    </li>
  );
}

/** Nothing is left of an account that is rejected: it did nothing yet. */
function RejectDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const reject = usePeopleChange(deleteUser);
  return (
    <ConfirmDialog
      title={say("rejectTitle", { name: fullNameOf(user) })}
      action={say("reject")}
      error={reject.error}
      isBusy={reject.isPending}
      onConfirm={() => reject.mutate(user.id, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{say("rejectText", { email: user.email })}</p>
    </ConfirmDialog>
  );
}
