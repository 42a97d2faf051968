import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { AgentMark } from "../../shared/marks/agent_mark";
import style from "./home.module.css";
import { publishedAgentsQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/home");

/** The agents to talk to, for people who build none. */
export function PublishedAgentList() {
  const may = usePermissionCheck();
  const { data: page } = useQuery(publishedAgentsQuery);
  if (!page) return null;
  const action = say(may("agents:chat") ? "talk" : "openAgent");
  return (
    <section className="stack g8" aria-labelledby="agents">
      <h2 id="agents" className="t-sec">
        {say("agents")}
      </h2>
      {page.data.length ? (
        <ul className={`card ${style.needs}`}>
          {page.data.map((agent) => (
            <li key={agent.id} className={style.need}>
              <AgentMark id={agent.id} size={28} />
              <div className="grow stack">
                <b className="t-500">{agent.name}</b>
                {agent.description && <span className="t-13 t-2">{agent.description}</span>}
              </div>
              <Button
                size="xs"
                variant="default"
                aria-label={`${action}: ${agent.name}`}
                renderRoot={(props) => <Link {...props} to="/agents/$agentId" params={{ agentId: agent.id }} />}
              >
                {action}
              </Button>
            </li>
          ))}
        </ul>
      ) : (
        <div className={`card t-13 t-2 ${style.calm}`}>{say("noAgents")}</div>
      )}
      {page.pagination.total > page.data.length && (
        <Link className={style.more} to="/agents">
          {say("allAgents")}
        </Link>
      )}
    </section>
  );
}
