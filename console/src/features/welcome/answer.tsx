import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { homeQuery } from "../../api/queries";
import { agentQuery } from "../../shared/agent/queries";
import { createTranslator } from "../../shared/i18n/words";
import { FailureState } from "../../shared/states/states";
import { WelcomeCard } from "./card";
import { TEMPLATES } from "./templates";
import style from "./welcome.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/welcome");
/** The first steps need none of it. */
const Playground = lazy(() =>
  import("../../shared/chat/playground").then((found) => ({ default: found.ChatPlayground })),
);

/** The first question, with some to begin with. */
export function AnswerStep({
  agentId,
  onBack,
  onAnswer,
}: {
  agentId?: string;
  onBack: () => void;
  onAnswer: () => void;
}) {
  const { data: home } = useQuery(homeQuery);
  const printed = home?.needs.find((need) => need.kind === "administrator");
  const { data: agent, error, refetch } = useQuery({ ...agentQuery(agentId ?? ""), enabled: Boolean(agentId) });
  if (error) return <FailureState error={error} onRetry={() => void refetch()} />;
  if (!agent) return null;
  const name = TEMPLATES.find((one) => say(`${one}Name`) === agent.name) ?? "guide";
  return (
    <WelcomeCard title={say("answerTitle", { name: agent.name })} text={say("answerText")}>
      <div className={style.play}>
        <Suspense fallback={null}>
          <Playground
            agentId={agent.id}
            onAnswer={onAnswer}
            suggestions={[say(`${name}Ask1`), say(`${name}Ask2`), say(`${name}Ask3`)]}
          />
        </Suspense>
      </div>
      {printed && <p className="note warn">{say("printed", { email: printed.object.name })}</p>}
      <div className="row between">
        <Button variant="subtle" onClick={onBack}>
          {say("back")}
        </Button>
        <span className="row g8">
          <Button
            variant="default"
            renderRoot={(props) => <Link {...props} to="/agents/$agentId" params={{ agentId: agent.id }} />}
          >
            {say("openAgent")}
          </Button>
          <Button renderRoot={(props) => <Link {...props} to="/" />}>{say("finish")}</Button>
        </span>
      </div>
    </WelcomeCard>
  );
}
