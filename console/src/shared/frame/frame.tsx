import Search from "icon:search";
import { ActionIcon } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { pendingQuery, permissionsQuery, tenantQuery, unreadQuery } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import { Logo } from "../marks/logo";
import { ToastRegion } from "../toast/region";
import { CreateMenu, openCreateMenu } from "./create_menu";
import style from "./frame.module.css";
import { useShortcutKeys } from "./keys";
import { useLiveInbox } from "./live";
import { type Entry, type EntryGroup, isChatOnly, isEntryAllowed, NAVIGATION, WIDE_NAVIGATION } from "./navigation";
import { ChatOnlyFoot, PhoneTabs } from "./phone_navigation";
import { listConsolePlaces } from "./places";
import { RatePauseNote, ServerGoneNote } from "./rate";
import { SchemeSwitch } from "./scheme";
import { SideNavigation } from "./side_navigation";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");
/** Loaded when first used: not part of the first load. */
const Palette = lazy(() => import("./palette"));
const Shortcuts = lazy(() => import("./shortcuts"));

function useNavigationEntries(): EntryGroup[] {
  const { data: role } = useQuery(permissionsQuery);
  const permissions = role?.permissions ?? [];
  return NAVIGATION.map((group) => ({
    ...group,
    entries: group.entries.filter((entry) => isEntryAllowed(entry, permissions)),
  })).filter((group) => group.entries.length);
}

/** What a phone shows of the frame: nothing beside an open chat, and less for people who only chat. */
function useFrameKind() {
  const { data: role } = useQuery(permissionsQuery);
  const isTalk = useLocation({
    select: ({ pathname, search }) => /^\/chat(\/|$)/.test(pathname) && !(search as { list?: boolean }).list,
  });
  const isWide = useMediaQuery(WIDE_NAVIGATION, undefined, { getInitialValueInEffect: false });
  const isOnly = isChatOnly(role?.permissions ?? []);
  return { permissions: role?.permissions ?? [], isTalk, isOnly, isListBeside: isOnly && isWide };
}

type FrameProps = {
  /** The list of chats: the navigation of people who only chat. */
  chats: ReactNode;
  children: ReactNode;
};

export function ConsoleFrame({ chats, children }: FrameProps) {
  const [isHelp, setHelp] = useState(false);
  const [isFinding, setFinding] = useState(false);
  const navigate = useNavigate();
  const { data: tenant } = useQuery(tenantQuery);
  const { data: unread } = useQuery(unreadQuery);
  const groups = useNavigationEntries();
  useLiveInbox();
  const entries = groups.flatMap((group) => group.entries);
  const { permissions, isTalk, isOnly, isListBeside } = useFrameKind();
  const openPalette = () => setFinding(true);
  useShortcutKeys({
    "mod+k": openPalette,
    "?": () => setHelp(true),
    ...Object.fromEntries(
      listConsolePlaces(permissions).flatMap(({ keys, to }) => (keys ? [[keys, () => void navigate({ to })]] : [])),
    ),
  });
  useShortcutKeys({ c: openCreateMenu }, { isFallback: true });
  const isApprover = entries.some((entry) => entry.word === "approvals");
  const { data: pending } = useQuery({ ...pendingQuery, enabled: isApprover });
  const counts = { inbox: unread?.count, approvals: pending?.count } as Record<string, number | undefined>;
  const countOf = (entry: Entry) => counts[entry.word] ?? 0;
  return (
    <div className={style.frame} data-chats={isListBeside || undefined} data-talk={isTalk || undefined}>
      <a className={style.skip} href="#main">
        {say("skip")}
      </a>
      <SideNavigation
        groups={groups}
        countOf={countOf}
        chats={isListBeside ? chats : undefined}
        onFind={openPalette}
        onHelp={() => setHelp(true)}
      />
      <header className={style.phone}>
        <Logo size={20} />
        <b className="grow cut">{tenant?.name ?? "Retinue"}</b>
        <SchemeSwitch />
        <CreateMenu size={36} />
        <ActionIcon size={36} aria-label={say("find")} onClick={openPalette}>
          <Search size={18} />
        </ActionIcon>
      </header>
      <main className={style.sheet} id="main" tabIndex={-1}>
        {location.protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(location.hostname) && (
          <div className={style.warnline}>{say("insecure")}</div>
        )}
        <ServerGoneNote />
        <RatePauseNote />
        {children}
      </main>
      {isOnly ? (
        <ChatOnlyFoot entries={entries} countOf={countOf} />
      ) : (
        <PhoneTabs entries={entries} countOf={countOf} />
      )}
      <ToastRegion />
      <Suspense fallback={null}>
        {isFinding && <Palette onClose={() => setFinding(false)} />}
        {isHelp && <Shortcuts onClose={() => setHelp(false)} />}
      </Suspense>
    </div>
  );
}
