import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useMay } from "../../api/queries";
import { Playground } from "../../shared/chat/playground";
import { Bar } from "../../shared/frame/bar";
import { words } from "../../shared/i18n/words";
import { AgentMark, Id } from "../../shared/parts";
import { Failure, RowsLoading } from "../../shared/states/states";
import { ago, exact } from "../../shared/time";
import style from "./agent.module.css";
import { AgentStatus } from "./parts";
import { agentQuery } from "./queries";
import en from "./words.en.json";

const say = words(en);

export default function AgentPage() {
  const { agentId } = useParams({ from: "/frame/agents/$agentId" });
  const may = useMay();
  const found = useQuery(agentQuery(agentId));
  const trail = [{ label: say("title"), to: "/agents" }];
  if (found.error)
    return (
      <>
        <Bar trail={trail} title={agentId} />
        <Failure error={found.error} onRetry={() => void found.refetch()} />
      </>
    );
  const agent = found.data;
  if (!agent)
    return (
      <>
        <Bar trail={trail} title="…" />
        <RowsLoading columns={[30, 300]} />
      </>
    );
  return (
    <>
      <Bar
        trail={trail}
        title={agent.name}
        after={
          <>
            <AgentMark id={agent.id} size={22} />
            <AgentStatus status={agent.status} />
          </>
        }
      >
        {may("conversations:read") && (
          <Button
            variant="default"
            renderRoot={(props) => <Link {...props} to="/conversations" search={{ agent: agent.id }} />}
          >
            {say("conversations")}
          </Button>
        )}
      </Bar>
      <div className={style.split}>
        <section className={style.facts} aria-label={say("facts")}>
          <dl className="kv">
            <dt>Id</dt>
            <dd>
              <Id>{agent.id}</Id>
            </dd>
            <dt>{say("model")}</dt>
            <dd className="mono">{agent.primary_model}</dd>
            <dt>{say("changed")}</dt>
            <dd title={exact(agent.updated_at)}>{ago(agent.updated_at)}</dd>
          </dl>
          <div className="stack g8">
            <h2 className="t-sec">{say("instructions")}</h2>
            <section className="code" aria-label={say("instructions")}>
              {agent.system_prompt}
            </section>
          </div>
        </section>
        <section className={style.play} aria-label={say("playground")}>
          <Playground agentId={agent.id} />
        </section>
      </div>
    </>
  );
}
