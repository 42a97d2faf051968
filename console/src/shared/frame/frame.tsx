import CircleHelp from "icon:circle-help";
import Ellipsis from "icon:ellipsis";
import LogOut from "icon:log-out";
import Search from "icon:search";
import UserRound from "icon:user-round";
import { ActionIcon, Kbd, Menu, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { meQuery, pendingQuery, permissionsQuery, tenantQuery, unreadQuery } from "../../api/queries";
import { signOut } from "../../api/session";
import { general } from "../i18n/general";
import { words } from "../i18n/words";
import { Avatar } from "../marks/avatar";
import { Logo } from "../marks/logo";
import { Toasts } from "../toast/region";
import style from "./frame.module.css";
import { useKeys } from "./keys";
import { useLiveInbox } from "./live";
import { type Entry, NAVIGATION } from "./navigation";
import { Pause, RateMeter, ServerGone } from "./rate";
import { SchemeSwitch } from "./scheme";
import { TenantMenu } from "./tenants";
import en from "./words.en.json";

const say = words(en, "shared/frame");
/** Loaded when first used: not part of the first load. */
const Palette = lazy(() => import("./palette"));
const Shortcuts = lazy(() => import("./shortcuts"));

function useEntries() {
  const { data: role } = useQuery(permissionsQuery);
  const isAllowed = (entry: Entry) => !entry.needs || (role?.permissions.includes(entry.needs) ?? false);
  return NAVIGATION.map((group) => ({ ...group, entries: group.entries.filter(isAllowed) })).filter(
    (group) => group.entries.length,
  );
}

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

const AccountItems = () => (
  <>
    <Menu.Item leftSection={<UserRound size={16} />} component={Link} to="/profile">
      {say("profile")}
    </Menu.Item>
    <Menu.Item leftSection={<LogOut size={16} />} onClick={() => void signOut()}>
      {say("signOut")}
    </Menu.Item>
  </>
);

function AccountMenu() {
  const { data: me } = useQuery(meQuery);
  const name = me ? `${me.first_name} ${me.last_name}`.trim() || me.email : "";
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <button type="button" className={style.me} aria-label={say("account", { name })}>
          {name && <Avatar name={name} />}
          <span className={`cut ${style.word}`}>{name}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <AccountItems />
      </Menu.Dropdown>
    </Menu>
  );
}

/** What a phone has no tab for. */
const More = ({ entries }: { entries: Entry[] }) => (
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

type CountOf = (entry: Entry) => number;
type SideProps = {
  groups: ReturnType<typeof useEntries>;
  countOf: CountOf;
  onFind: () => void;
  onHelp: () => void;
};

function SideNavigation({ groups, countOf, onFind, onHelp }: SideProps) {
  return (
    <nav className={style.nav} aria-label={say("main")}>
      <TenantMenu />
      <div className={`row g6 ${style.tools}`}>
        <button type="button" className={style.find} onClick={onFind} aria-label={say("find")}>
          <Search size={15} />
          <span className={`grow ${style.word}`}>{say("findShort")}</span>
          <Kbd className={style.word}>{general("ctrl")} K</Kbd>
        </button>
      </div>
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

/** The navigation of a narrow screen: the entries that have a tab, and a menu with the others. */
function PhoneTabs({ entries, countOf }: { entries: Entry[]; countOf: CountOf }) {
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
      <More entries={entries.filter((entry) => !entry.isTab)} />
    </nav>
  );
}

export function Frame({ children }: { children: ReactNode }) {
  const [isHelp, setHelp] = useState(false);
  const [isFinding, setFinding] = useState(false);
  const navigate = useNavigate();
  const { data: tenant } = useQuery(tenantQuery);
  const { data: unread } = useQuery(unreadQuery);
  const groups = useEntries();
  useLiveInbox();
  const entries = groups.flatMap((group) => group.entries);
  const find = () => setFinding(true);
  useKeys({
    "mod+k": find,
    "?": () => setHelp(true),
    ...Object.fromEntries(entries.map((entry) => [`g ${entry.keys}`, () => void navigate({ to: entry.to })])),
  });
  const isApprover = entries.some((entry) => entry.word === "approvals");
  const { data: pending } = useQuery({ ...pendingQuery, enabled: isApprover });
  const counts = { inbox: unread?.count, approvals: pending?.count } as Record<string, number | undefined>;
  const countOf = (entry: Entry) => counts[entry.word] ?? 0;
  return (
    <div className={style.frame}>
      <a className={style.skip} href="#main">
        {say("skip")}
      </a>
      <SideNavigation groups={groups} countOf={countOf} onFind={find} onHelp={() => setHelp(true)} />
      <header className={style.phone}>
        <Logo size={20} />
        <b className="grow cut">{tenant?.name ?? "Retinue"}</b>
        <SchemeSwitch />
        <ActionIcon size={36} aria-label={say("find")} onClick={find}>
          <Search size={18} />
        </ActionIcon>
      </header>
      <main className={style.sheet} id="main" tabIndex={-1}>
        {location.protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(location.hostname) && (
          <div className={style.warnline}>{say("insecure")}</div>
        )}
        <ServerGone />
        <Pause />
        {children}
      </main>
      <PhoneTabs entries={entries} countOf={countOf} />
      <Toasts />
      <Suspense fallback={null}>
        {isFinding && <Palette onClose={() => setFinding(false)} />}
        {isHelp && <Shortcuts onClose={() => setHelp(false)} />}
      </Suspense>
    </div>
  );
}
