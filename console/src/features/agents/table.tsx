import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { AgentStatus } from "../../shared/agent/agent_page";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { RowTable } from "../../shared/list/row_table";
import { AgentMark } from "../../shared/marks/agent_mark";
import { RowCheckbox } from "../../shared/marks/row_checkbox";
import { Sparkline } from "../../shared/marks/sparkline";
import { StatusLabel } from "../../shared/marks/status";
import { formatDuration, formatExactTime, formatMoney, formatTimeSince } from "../../shared/time";
import { AgentMenu } from "./agent_menu";
import style from "./agents.module.css";
import type { Agent } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/agents");
const FAILING_SHARE = 0.2;

type Props = {
  rows: Agent[];
  chosen: Set<string>;
  onChoose: (ids: string[], isOn: boolean) => void;
  onDelete: (agent: Agent) => void;
};

export const AgentTable = memo(function AgentTable({ rows, chosen, onChoose, onDelete }: Props) {
  const some = rows.filter((agent) => chosen.has(agent.id)).length;
  return (
    <RowTable title={say("title")} className={style.table}>
      <thead>
        <tr>
          <th className={style.box}>
            <RowCheckbox
              label={say("chooseAll")}
              isOn={some === rows.length}
              isPartly={some > 0 && some < rows.length}
              onChange={(isOn) =>
                onChoose(
                  rows.map((agent) => agent.id),
                  isOn,
                )
              }
            />
          </th>
          <th>{say("name")}</th>
          <th>{say("status")}</th>
          <th className="wide">{say("model")}</th>
          <th className="wide">{say("chats")}</th>
          <th className="wide" title={say("p95Hint")}>
            {say("p95")}
          </th>
          <th className="wide">{say("cost")}</th>
          <th className="wide">{say("liked")}</th>
          <th className="wide">{say("changed")}</th>
          <th className={style.menu}>
            <span className="sr">{say("actions", { name: "" })}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((agent) => (
          <AgentRow
            key={agent.id}
            agent={agent}
            isChosen={chosen.has(agent.id)}
            onChoose={onChoose}
            onDelete={onDelete}
          />
        ))}
      </tbody>
    </RowTable>
  );
});

type RowProps = Pick<Props, "onChoose" | "onDelete"> & { agent: Agent; isChosen: boolean };

/** A filter or a choice concerns few rows; the others stay as they are. */
const AgentRow = memo(function AgentRow({ agent, isChosen, onChoose, onDelete }: RowProps) {
  return (
    <tr className={isChosen ? style.chosen : undefined}>
      <td className={style.box}>
        <RowCheckbox
          label={say("choose", { name: agent.name })}
          isOn={isChosen}
          onChange={(isOn) => onChoose([agent.id], isOn)}
        />
      </td>
      <AgentCells agent={agent} onDelete={onDelete} />
    </tr>
  );
});

/** All of a row but its box, so that choosing a whole page draws fifty boxes and nothing else. */
const AgentCells = memo(function Cells({ agent, onDelete }: Pick<RowProps, "agent" | "onDelete">) {
  const { stats } = agent;
  const isFailing = stats && agent.status === "published" && stats.failed_chats / (stats.chats || 1) >= FAILING_SHARE;
  const rated = stats ? stats.likes + stats.dislikes : 0;
  return (
    <>
      <td>
        <Link data-row className="row g12" to="/agents/$agentId" params={{ agentId: agent.id }}>
          <AgentMark id={agent.id} />
          <span className="stack">
            <span className={`t-500 cut ${style.what}`}>{agent.name}</span>
            {agent.description && <span className={`t-12 t-3 cut ${style.what}`}>{agent.description}</span>}
          </span>
        </Link>
      </td>
      <td>
        {isFailing ? <StatusLabel tone="bad">{say("failing")}</StatusLabel> : <AgentStatus status={agent.status} />}
      </td>
      <td className="mono t-12 t-2 wide">
        <span className={`cut ${style.model}`}>{agent.primary_model}</span>
      </td>
      <td className="wide num t-2">{stats && <ChatCount stats={stats} />}</td>
      <td className="wide num t-2">
        {stats?.p95_response_time_ms != null ? formatDuration(stats.p95_response_time_ms) : "–"}
      </td>
      <td className="wide num t-2">{stats?.estimated_cost_usd ? formatMoney(stats.estimated_cost_usd) : "–"}</td>
      <td className="wide num t-2">
        {rated ? (stats?.likes ?? 0).toLocaleString(locale) : "–"}
        {rated > 0 && <span className="t-3"> / {rated.toLocaleString(locale)}</span>}
      </td>
      <td className="wide t-2 num" title={formatExactTime(agent.updated_at)}>
        {formatTimeSince(agent.updated_at)}
      </td>
      <td>
        <AgentMenu agent={agent} onDelete={() => onDelete(agent)} />
      </td>
    </>
  );
});

function ChatCount({ stats }: { stats: NonNullable<Agent["stats"]> }) {
  const period = say(`period_${stats.period}`);
  if (!stats.chats) return <>–</>;
  return (
    <span className="row g8">
      <span className={style.count}>{stats.chats.toLocaleString(locale)}</span>
      <Sparkline values={stats.series} width={56} height={18} label={say("chatsOf", { count: stats.chats, period })} />
    </span>
  );
}
