import { Link } from "@tanstack/react-router";
import type { components } from "../../api/schema";
import { createTranslator } from "../../shared/i18n/words";
import { AgentMark } from "../../shared/marks/agent_mark";
import { SheetSection } from "../../shared/patterns/sheet";
import style from "./statistics.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/tools");

/** The agents that called it most, each with how often. */
export function TopAgents({ agents }: { agents: components["schemas"]["AgentExecutions"][] }) {
  return (
    <SheetSection title={say("calledMost")}>
      <div className="card">
        {agents.map((agent) => (
          <div key={agent.agent_id} className={style.line}>
            <AgentMark id={agent.agent_id} size={22} />
            <Link className="t-13 t-500 grow cut" to="/agents/$agentId" params={{ agentId: agent.agent_id }}>
              {agent.agent_name ?? agent.agent_id}
            </Link>
            <span className="t-12 t-3 num">{say("runsCount", { count: agent.executions })}</span>
          </div>
        ))}
        {agents.length === 0 && <div className={style.foot}>{say("noAgents")}</div>}
      </div>
    </SheetSection>
  );
}
