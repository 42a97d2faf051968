import "@mantine/spotlight/styles.css";
import "./palette.css";
import BookOpen from "icon:book-open";
import LogOut from "icon:log-out";
import Plus from "icon:plus";
import Search from "icon:search";
import UserRound from "icon:user-round";
import { Spotlight, spotlight } from "@mantine/spotlight";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { basePath } from "../../api/base";
import { api, data } from "../../api/client";
import { permissionsQuery } from "../../api/queries";
import { signOut } from "../../api/session";
import { words } from "../i18n/words";
import { AgentMark } from "../parts";
import { NAVIGATION } from "./navigation";
import en from "./words.en.json";

const say = words(en);
const SEARCH_WAIT_MS = 250;

function useAgents(search: string, isAllowed: boolean) {
  const [waited, setWaited] = useState(search);
  useEffect(() => {
    const timer = setTimeout(() => setWaited(search), SEARCH_WAIT_MS);
    return () => clearTimeout(timer);
  }, [search]);
  return useQuery({
    queryKey: ["agents", "palette", waited],
    queryFn: () =>
      data(api.GET("/api/v1/agents", { params: { query: { per_page: 8, ...(waited ? { search: waited } : {}) } } })),
    placeholderData: keepPreviousData,
    enabled: isAllowed,
  });
}

/** Objects by name, then places and actions. `>` limits the list to actions. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const { data: role } = useQuery(permissionsQuery);
  const may = (permission?: string) => !permission || (role?.permissions.includes(permission) ?? false);
  const isActions = text.startsWith(">");
  const found = useAgents(isActions ? "" : text, may("agents:read"));
  useEffect(() => spotlight.open(), []);
  const go = (to: string) => () => void navigate({ to });
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
    {
      id: "docs",
      label: say("docs"),
      leftSection: <BookOpen size={16} />,
      onClick: () => window.open(`${basePath}/docs`, "_blank", "noopener"),
    },
    { id: "sign-out", label: say("signOut"), leftSection: <LogOut size={16} />, onClick: () => void signOut() },
  ];
  const places = [
    ...entries.map((entry) => ({
      id: entry.to,
      label: say(entry.word),
      leftSection: <entry.icon size={16} />,
      onClick: go(entry.to),
    })),
    { id: "/profile", label: say("profile"), leftSection: <UserRound size={16} />, onClick: go("/profile") },
  ];
  const agents = (found.data?.data ?? []).map((agent) => ({
    id: agent.id,
    label: agent.name,
    description: `${agent.status} · ${agent.primary_model} · ${agent.id}`,
    leftSection: <AgentMark id={agent.id} size={22} />,
    onClick: go(`/agents/${agent.id}`),
  }));
  const groups = [
    { group: say("agents"), actions: isActions ? [] : agents },
    { group: say("places"), actions: isActions ? [] : places },
    { group: say("actions"), actions },
  ].filter((group) => group.actions.length);
  return (
    <Spotlight
      shortcut={null}
      onSpotlightClose={onClose}
      onQueryChange={setText}
      filter={(query, all) => {
        const wanted = query.replace(/^>/, "").trim().toLowerCase();
        return all
          .map((group) =>
            "actions" in group
              ? {
                  ...group,
                  actions: group.actions.filter((one) =>
                    `${one.label} ${one.description ?? ""}`.toLowerCase().includes(wanted),
                  ),
                }
              : group,
          )
          .filter((group) => !("actions" in group) || group.actions.length);
      }}
      nothingFound={say("nothing")}
      scrollable
      maxHeight={420}
      radius="lg"
      searchProps={{ placeholder: say("find"), leftSection: <Search size={17} />, "aria-label": say("find") }}
      actions={groups}
    />
  );
}
