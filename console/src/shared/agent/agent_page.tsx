import { Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMay } from "../../api/queries";
import type { components } from "../../api/schema";
import { Bar } from "../frame/bar";
import { words } from "../i18n/words";
import { AgentMark } from "../marks/agent_mark";
import { Status, type Tone } from "../marks/status";
import { Failure, RowsLoading } from "../states/states";
import style from "./agent_page.module.css";
import { agentQuery } from "./queries";
import { Silent } from "./silent";
import { UnsavedNote } from "./unsaved_note";
import en from "./words.en.json";

type Agent = components["schemas"]["AgentOut"];

const say = words(en, "shared/agent");
const TONES: Record<string, Tone> = { published: "ok", draft: "idle", archived: "idle" };
const STATUS_WORDS: Record<string, string> = {
  published: say("published"),
  draft: say("draft"),
  archived: say("archived"),
};
export const AgentStatus = ({ status }: { status: string }) => (
  // Say why a draft answers: people expect that of published agents only.
  <Tooltip label={say("draftStatus")} disabled={status !== "draft"}>
    <span>
      <Status tone={TONES[status] ?? "idle"}>{STATUS_WORDS[status] ?? status}</Status>
    </span>
  </Tooltip>
);

/** The tabs of an agent's page. A screen that does not exist is not listed. */
const TABS = [
  { name: "build", to: "/agents/$agentId", needs: "agents:read" },
  { name: "knowledge", to: "/agents/$agentId/knowledge", needs: "agents:read" },
  { name: "share", to: "/agents/$agentId/share", needs: "agents:read" },
  { name: "versions", to: "/agents/$agentId/versions", needs: "agents:read" },
  { name: "statistics", to: "/agents/$agentId/statistics", needs: "agents:read" },
  { name: "compare", to: "/agents/$agentId/compare", needs: "agents:write" },
] as const;
type TabName = (typeof TABS)[number]["name"];

function Tabs({ agentId, current }: { agentId: string; current: TabName }) {
  const may = useMay();
  return (
    <nav className={style.tabs} aria-label={say("parts")}>
      {TABS.filter((tab) => may(tab.needs)).map((tab) => (
        <Link
          key={tab.name}
          to={tab.to}
          params={{ agentId }}
          activeOptions={{ exact: true, includeSearch: false }}
          aria-current={tab.name === current ? "page" : undefined}
        >
          {say(tab.name)}
        </Link>
      ))}
    </nav>
  );
}

/** The frame that all screens of one agent share: its bar, its state and the tabs to its other screens. */
export function AgentPage({
  agentId,
  tab,
  actions,
  after,
  children,
}: {
  agentId: string;
  tab: TabName;
  actions?: ReactNode;
  after?: ReactNode;
  children: (agent: Agent) => ReactNode;
}) {
  const { data: agent, error, refetch } = useQuery(agentQuery(agentId));
  const mark = agent && (
    <>
      <AgentMark id={agent.id} size={22} />
      <span className="wide">
        <AgentStatus status={agent.status} />
      </span>
      {agent.status === "published" && <Silent agentId={agent.id} />}
      {after}
    </>
  );
  return (
    <>
      <Bar
        trail={[{ label: say("agents"), to: "/agents" }]}
        title={agent?.name ?? (error ? agentId : "…")}
        tab={say(tab)}
        isThere={Boolean(agent)}
        after={mark}
      >
        {agent && actions}
      </Bar>
      {agent && TABS.length > 1 && <Tabs agentId={agentId} current={tab} />}
      {agent && tab !== "build" && <UnsavedNote agentId={agentId} />}
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {agent ? children(agent) : !error && <RowsLoading columns={[30, 300]} />}
    </>
  );
}
