import Ellipsis from "icon:ellipsis";
import { Menu } from "@mantine/core";
import { Link, useLocation } from "@tanstack/react-router";
import { createTranslator } from "../i18n/words";
import { AccountItems, AccountMenu } from "./account_menu";
import type { Entry } from "./navigation";
import style from "./phone_navigation.module.css";
import type { CountOf } from "./side_navigation";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");

/** What a phone has no tab for. */
const MoreEntries = ({ entries }: { entries: Entry[] }) => (
  <Menu position="top-end" width={220}>
    <Menu.Target>
      <button type="button">
        <span className={style.tabIcon}>
          <Ellipsis size={20} />
        </span>
        {say("more")}
      </button>
    </Menu.Target>
    <Menu.Dropdown>
      {entries.map((entry) => (
        <Menu.Item key={entry.to} leftSection={<entry.icon size={16} />} component={Link} to={entry.to}>
          {say(entry.word)}
        </Menu.Item>
      ))}
      {entries.length > 0 && <Menu.Divider />}
      <AccountItems />
    </Menu.Dropdown>
  </Menu>
);

/** The foot of a phone for people who only chat: where else they can go, and their account. */
export const ChatOnlyFoot = ({ entries, countOf }: { entries: Entry[]; countOf: CountOf }) => {
  const address = useLocation({ select: (now) => now.pathname });
  return (
    <nav className={style.phoneFoot} aria-label={say("quick")}>
      {entries
        .filter(({ to }) => !address.startsWith(to))
        .map((entry) => (
          <Link key={entry.to} to={entry.to} search={entry.word === "chat" ? { list: true } : undefined}>
            <entry.icon size={18} />
            {say(entry.word)}
            {countOf(entry) > 0 && <span className="t-3 num">{countOf(entry)}</span>}
          </Link>
        ))}
      <AccountMenu isNamed />
    </nav>
  );
};

/** The navigation of a narrow screen: the entries that have a tab, and a menu with the others. */
export function PhoneTabs({ entries, countOf }: { entries: Entry[]; countOf: CountOf }) {
  const tabs = entries.filter((entry) => entry.isTab);
  return (
    <nav className={style.tabs} aria-label={say("quick")}>
      {tabs.map((entry) => (
        <Link
          key={entry.to}
          to={entry.to}
          activeOptions={{ exact: entry.to === "/" }}
          activeProps={{ "aria-current": "page" }}
        >
          <span className={style.tabIcon}>
            <entry.icon size={20} />
            {countOf(entry) > 0 && <i className={style.tabCount}>{countOf(entry)}</i>}
          </span>
          {say(entry.word)}
        </Link>
      ))}
      <MoreEntries entries={entries.filter((entry) => !entry.isTab)} />
    </nav>
  );
}
