import CircleHelp from "icon:circle-help";
import Search from "icon:search";
import { ActionIcon, Kbd, Tooltip } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { general } from "../i18n/general";
import { createTranslator } from "../i18n/words";
import { AccountMenu } from "./account_menu";
import { CreateMenu } from "./create_menu";
import style from "./frame.module.css";
import type { Entry, EntryGroup } from "./navigation";
import { RateMeter } from "./rate";
import { SchemeSwitch } from "./scheme";
import { TenantMenu } from "./tenants";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");

function NavigationItem({ entry, count }: { entry: Entry; count: number }) {
  const label = say(entry.word);
  return (
    <li>
      <Tooltip label={`${label}  G ${entry.keys.toUpperCase()}`} position="right" openDelay={500}>
        <Link
          to={entry.to}
          className={style.item}
          activeOptions={{ exact: entry.to === "/" }}
          activeProps={{ "aria-current": "page" }}
          aria-label={count > 0 ? `${label}, ${count}` : label}
        >
          <entry.icon size={16} />
          <span className={`grow ${style.word}`}>{label}</span>
          {count > 0 && <span className={style.count}>{count}</span>}
        </Link>
      </Tooltip>
    </li>
  );
}

export type CountOf = (entry: Entry) => number;
type SideProps = {
  groups: EntryGroup[];
  countOf: CountOf;
  /** What stands in place of the entries. */
  chats?: ReactNode;
  onFind: () => void;
  onHelp: () => void;
};

/** The chats of somebody who only chats, and the few entries beside Chat itself. */
const ChatNavigation = ({ chats, groups, countOf }: Pick<SideProps, "chats" | "groups" | "countOf">) => (
  <div className={style.chats}>
    {chats}
    <ul>
      {groups
        .flatMap((group) => group.entries)
        .filter((entry) => entry.word !== "chat")
        .map((entry) => (
          <NavigationItem key={entry.to} entry={entry} count={countOf(entry)} />
        ))}
    </ul>
  </div>
);

const EntryList = ({ groups, countOf }: Pick<SideProps, "groups" | "countOf">) => (
  <div className={style.list}>
    {groups.map((group, i) => (
      <div key={i} className={style.group}>
        {group.title && <div className={`${style.title} ${style.word}`}>{say(group.title)}</div>}
        <ul>
          {group.entries.map((entry) => (
            <NavigationItem key={entry.to} entry={entry} count={countOf(entry)} />
          ))}
        </ul>
      </div>
    ))}
  </div>
);

const Tools = ({ onFind }: { onFind: () => void }) => (
  <div className={`row g6 ${style.tools}`}>
    <button type="button" className={style.find} onClick={onFind} aria-label={say("find")}>
      <Search size={15} />
      <span className={`grow ${style.word}`}>{say("findShort")}</span>
      <Kbd className={style.word}>{general("ctrl")} K</Kbd>
    </button>
    <CreateMenu size={32} />
  </div>
);

export function SideNavigation({ groups, countOf, chats, onFind, onHelp }: SideProps) {
  return (
    <nav className={style.nav} aria-label={say("main")}>
      <TenantMenu />
      {chats ? (
        <ChatNavigation chats={chats} groups={groups} countOf={countOf} />
      ) : (
        <>
          <Tools onFind={onFind} />
          <EntryList groups={groups} countOf={countOf} />
        </>
      )}
      <div className={style.foot}>
        <RateMeter />
        <div className="row g2">
          <AccountMenu />
          <span className={`row g2 ${style.word}`}>
            <SchemeSwitch />
            <Tooltip label={say("help")}>
              <ActionIcon aria-label={say("help")} onClick={onHelp}>
                <CircleHelp size={16} />
              </ActionIcon>
            </Tooltip>
          </span>
        </div>
      </div>
    </nav>
  );
}
