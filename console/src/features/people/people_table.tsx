import { Link } from "@tanstack/react-router";
import { memo, useRef } from "react";
import { useRowKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { Avatar } from "../../shared/marks/avatar";
import { roleNameOf } from "../../shared/people/roles";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import style from "./people.module.css";
import type { User } from "./queries";
import { fullNameOf, SecondFactorLabel, UserStatusLabel } from "./user_words";
import en from "./words.en.json";

const say = createTranslator(en, "features/people");

export const PeopleTable = memo(function PeopleTable({ users, openedId }: { users: User[]; openedId?: string }) {
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  return (
    <div ref={list}>
      <table className={`table ${style.table}`}>
        <caption className="sr">{say("title")}</caption>
        <thead>
          <tr>
            <th>{say("name")}</th>
            <th className="wide">{say("role")}</th>
            <th className="wide">{say("factor")}</th>
            <th>{say("state")}</th>
            <th className="wide num">{say("signedIn")}</th>
          </tr>
        </thead>
        <tbody>
          {users.map((user) => (
            <PersonRow key={user.id} user={user} isOpen={user.id === openedId} />
          ))}
        </tbody>
      </table>
    </div>
  );
});

const PersonRow = memo(function PersonRow({ user, isOpen }: { user: User; isOpen: boolean }) {
  const name = fullNameOf(user);
  return (
    <tr className={isOpen ? "on" : ""}>
      <td className={style.who}>
        <Link
          data-row
          className="row g12"
          to="/settings/people"
          search={(now) => ({ ...now, person: user.id })}
          aria-current={isOpen ? "true" : undefined}
        >
          <Avatar name={name} size="l" />
          <span className="stack">
            <span className="t-500 cut">{name}</span>
            <span className="t-12 t-3 cut">{user.email}</span>
          </span>
        </Link>
      </td>
      <td className="wide">{roleNameOf(user.role)}</td>
      <td className="wide">
        <SecondFactorLabel user={user} />
      </td>
      <td>
        <UserStatusLabel user={user} />
      </td>
      <td className="wide num t-2" title={user.last_login_at ? formatExactTime(user.last_login_at) : undefined}>
        {user.last_login_at ? formatTimeSince(user.last_login_at) : say("never")}
      </td>
    </tr>
  );
});
