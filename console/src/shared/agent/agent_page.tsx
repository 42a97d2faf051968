import { Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { usePermissionCheck } from "../../api/queries";
import type { components } from "../../api/schema";
import { PageBar } from "../frame/bar";
import { createTranslator } from "../i18n/words";
import { AgentMark } from "../marks/agent_mark";
import { StatusLabel, type Tone } from "../marks/status";
import { PageTabs } from "../patterns/page_tabs";
import { FailureState, RowSkeletons } from "../states/states";
import { agentQuery } from "./queries";
import { SilentAgentNote } from "./silent";
import { UnsavedDraftNote } from "./unsaved_note";
import en from "./words.en.json";

type Agent = components["schemas"]["AgentOut"];

const say = createTranslator(en, "shared/agent");
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
      <StatusLabel tone={TONES[status] ?? "idle"}>{STATUS_WORDS[status] ?? status}</StatusLabel>
    </span>
  </Tooltip>
);

/** The tabs of an agent's page. A screen that does not exist is not listed. */
const TABS = [
  { name: "build", to: "/agents/$agentId", needs: "agents:read" },
  { name: "knowledge", to: "/agents/$agentId/knowledge", needs: "agents:read" },
  { name: "share", to: "/agents/$agentId/share", needs: "agents:read" },
  { name: "versions", to: "/agents/$agentId/versions", needs: "agents:read" },
  { name: "log", to: "/agents/$agentId/log", needs: "conversations:read" },
  { name: "statistics", to: "/agents/$agentId/statistics", needs: "agents:read" },
  { name: "compare", to: "/agents/$agentId/compare", needs: "agents:write" },
] as const;
type TabName = (typeof TABS)[number]["name"];

function AgentTabs({ agentId }: { agentId: string }) {
  const may = usePermissionCheck();
  const tabs = TABS.filter((tab) => may(tab.needs)).map(({ name, to }) => ({
    label: say(name),
    to,
    params: { agentId },
  }));
  return <PageTabs tabs={tabs} label={say("parts")} />;
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
      {agent.status === "published" && <SilentAgentNote agentId={agent.id} />}
      {after}
    </>
  );
  return (
    <>
      <PageBar
        trail={[{ label: say("agents"), to: "/agents" }]}
        title={agent?.name ?? (error ? agentId : "…")}
        tab={say(tab)}
        isThere={Boolean(agent)}
        after={mark}
      >
        {agent && actions}
      </PageBar>
      {agent && TABS.length > 1 && <AgentTabs agentId={agentId} />}
      {agent && tab !== "build" && <UnsavedDraftNote agentId={agentId} />}
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      {agent ? children(agent) : !error && <RowSkeletons columns={[30, 300]} />}
    </>
  );
}
