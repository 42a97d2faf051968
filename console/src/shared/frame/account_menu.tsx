import LogOut from "icon:log-out";
import UserRound from "icon:user-round";
import { Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { meQuery } from "../../api/queries";
import { signOut } from "../../api/session";
import { createTranslator } from "../i18n/words";
import { Avatar } from "../marks/avatar";
import style from "./frame.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");

export const AccountItems = () => (
  <>
    <Menu.Item leftSection={<UserRound size={16} />} component={Link} to="/profile">
      {say("profile")}
    </Menu.Item>
    <Menu.Item leftSection={<LogOut size={16} />} onClick={() => void signOut()}>
      {say("signOut")}
    </Menu.Item>
  </>
);

/** The account; on a rail it is a picture alone, unless it shall be named. */
export function AccountMenu({ isNamed = false }) {
  const { data: me } = useQuery(meQuery);
  const name = me ? `${me.first_name} ${me.last_name}`.trim() || me.email : "";
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <button type="button" className={style.me} aria-label={say("account", { name })}>
          {name && <Avatar name={name} />}
          <span className={`cut ${isNamed ? "" : style.word}`}>{name}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <AccountItems />
      </Menu.Dropdown>
    </Menu>
  );
}
