import { useQuery } from "@tanstack/react-query";
import { meQuery } from "../../api/queries";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { Avatar } from "../../shared/marks/avatar";
import { CopyableId } from "../../shared/marks/copyable_id";
import { Note } from "../../shared/patterns/note";
import { FactList } from "../../shared/patterns/sheet";
import { SidePanel } from "../../shared/patterns/side_panel";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDay, formatExactTime, formatTimeSince } from "../../shared/time";
import { findObstacle, type Obstacle } from "./authority";
import { type User, userQuery } from "./queries";
import { UserActions, UserFoot } from "./user_actions";
import { UserRole } from "./user_role";
import { UserSessions } from "./user_sessions";
import { fullNameOf, SecondFactorLabel } from "./user_words";
import en from "./words.en.json";

const say = createTranslator(en, "features/people");

type UserPanelProps = {
  userId: string;
  /** The row of the list, if this page of it has the person. */
  listed?: User;
  onClose: () => void;
};

/** One person: what they may do, how they sign in and where they are signed in. */
export function UserPanel({ userId, listed, onClose }: UserPanelProps) {
  const found = useQuery({ ...userQuery(userId), enabled: !listed });
  const { data: me } = useQuery(meQuery);
  const user = listed ?? found.data;
  const name = user ? fullNameOf(user) : "…";
  const obstacle = user && findObstacle(me, user);
  return (
    <SidePanel
      label={user ? name : say("person")}
      icon={user && <Avatar name={name} />}
      title={name}
      subtitle={user?.email}
      actions={user && me && !obstacle && <UserActions user={user} />}
      foot={user && me && !obstacle && <UserFoot user={user} onGone={onClose} />}
      onClose={onClose}
    >
      {user && me ? (
        <UserDetails user={user} obstacle={obstacle} />
      ) : found.error ? (
        <FailureState error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <RowSkeletons rows={3} columns={[80, 160]} />
      )}
    </SidePanel>
  );
}

function UserDetails({ user, obstacle }: { user: User; obstacle: Obstacle }) {
  return (
    <>
      {user.status === "inactive" && <Note tone="warn">{say("inactiveNote")}</Note>}
      {user.is_pending && <Note tone="warn">{say("waitingNote")}</Note>}
      {!user.email_verified && <Note>{say("unverifiedNote")}</Note>}
      <UserRole user={user} obstacle={obstacle} />
      <FactList
        facts={[
          [say("since"), formatDay(user.created_at)],
          [say("factor"), <SecondFactorLabel key="factor" user={user} />],
          [
            say("signedIn"),
            user.last_login_at ? (
              <span key="signed-in" title={formatExactTime(user.last_login_at)}>
                {new Date(user.last_login_at).toLocaleDateString(locale, { dateStyle: "medium" })} (
                {formatTimeSince(user.last_login_at)})
              </span>
            ) : (
              say("never")
            ),
          ],
        ]}
      />
      {obstacle !== "above" && <UserSessions userId={user.id} isOwn={obstacle === "own"} />}
      <CopyableId>{user.id}</CopyableId>
    </>
  );
}
