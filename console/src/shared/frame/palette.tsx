import "@mantine/spotlight/styles.css";
import "./palette.css";
import Bell from "icon:bell";
import LogOut from "icon:log-out";
import Plus from "icon:plus";
import Search from "icon:search";
import ShieldCheck from "icon:shield-check";
import { Spotlight, type SpotlightActionData, type SpotlightProps, spotlight } from "@mantine/spotlight";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { pendingQuery, permissionsQuery, unreadQuery } from "../../api/queries";
import { signOut } from "../../api/session";
import { words } from "../i18n/words";
import { NAVIGATION } from "./navigation";
import { useObjects } from "./objects";
import { useSettings } from "./settings";
import en from "./words.en.json";

const say = words(en, "shared/frame");
/** Whether an address belongs to a route: `/agents/$agentId` takes `/agents/agt_1`. */
function isAddressOf(path: string, to: string): boolean {
  const [wanted, given] = [path.split("/"), to.split("/")];
  return wanted.length === given.length && wanted.every((part, i) => part.startsWith("$") || part === given[i]);
}

type Filter = NonNullable<SpotlightProps["filter"]>;

/** The entries with the wanted text; `>` is not part of it. */
const filterGroups: Filter = (query, all) => {
  const wanted = query.replace(/^>/, "").trim().toLowerCase();
  const isMatch = (one: SpotlightActionData) => `${one.label} ${one.keywords ?? ""}`.toLowerCase().includes(wanted);
  return all
    .map((group) => {
      // The server has chosen the objects; a name in another script or an id would not stand here.
      if (!("actions" in group) || group.group === say("objects")) return group;
      return { ...group, actions: group.actions.filter(isMatch) };
    })
    .filter((group) => !("actions" in group) || group.actions.length);
};

/** What waits for this person, each with its page. */
function useWaiting(isApprover: boolean, go: (to: string) => () => void) {
  const { data: unread } = useQuery(unreadQuery);
  const { data: pending } = useQuery({ ...pendingQuery, enabled: isApprover });
  const needs = [
    { id: "waiting", count: pending?.count ?? 0, word: "waiting", to: "/approvals", icon: <ShieldCheck size={16} /> },
    { id: "unread", count: unread?.count ?? 0, word: "unreadSome", to: "/inbox", icon: <Bell size={16} /> },
  ] as const;
  return needs
    .filter((one) => one.count > 0)
    .map(({ id, count, word, to, icon }) => ({
      id,
      label: say(word, { count }),
      leftSection: icon,
      onClick: go(to),
    }));
}

/** What needs you, actions, objects by name or id, places, settings. `>` limits the list to actions. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const { data: role } = useQuery(permissionsQuery);
  const may = (permission?: string) => !permission || (role?.permissions.includes(permission) ?? false);
  const isActions = text.startsWith(">");
  const router = useRouter();
  const hasPage = (to: string) => Object.keys(router.routesByPath).some((path) => isAddressOf(path, to));
  useEffect(() => spotlight.open(), []);
  const go = (to: string) => () => void navigate({ to });
  const objects = useObjects(isActions ? "" : text, go, hasPage);
  const entries = NAVIGATION.flatMap((group) => group.entries).filter((entry) => may(entry.needs));
  const actions = [
    ...(may("agents:write")
      ? [
          {
            id: "new-agent",
            label: say("newAgent"),
            leftSection: <Plus size={16} />,
            onClick: () => void navigate({ to: "/agents", search: { create: true } }),
          },
        ]
      : []),
    { id: "sign-out", label: say("signOut"), leftSection: <LogOut size={16} />, onClick: () => void signOut() },
  ];
  const places = [
    ...entries.map((entry) => ({
      id: entry.to,
      label: say(entry.word),
      leftSection: <entry.icon size={16} />,
      onClick: go(entry.to),
    })),
  ];
  const settings = useSettings(may);
  const waiting = useWaiting(may("approvals:read"), go);
  const groups = [
    { group: say("needsYou"), actions: isActions ? [] : waiting },
    { group: say("actions"), actions },
    { group: say("objects"), actions: isActions ? [] : objects },
    { group: say("places"), actions: isActions ? [] : places },
    { group: say("settings"), actions: isActions ? [] : settings },
  ].filter((group) => group.actions.length);
  return (
    <Spotlight
      shortcut={null}
      onSpotlightClose={onClose}
      onQueryChange={setText}
      filter={filterGroups}
      nothingFound={say("nothing")}
      scrollable
      maxHeight={420}
      radius="lg"
      searchProps={{ placeholder: say("find"), leftSection: <Search size={17} />, "aria-label": say("find") }}
      actions={groups}
    />
  );
}
