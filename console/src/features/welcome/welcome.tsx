import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState, useSyncExternalStore } from "react";
import { meQuery, permissionsQuery } from "../../api/queries";
import { readSessionState, subscribeToSession } from "../../api/session";
import { SchemeSwitch } from "../../shared/frame/scheme";
import { createTranslator } from "../../shared/i18n/words";
import { Logo } from "../../shared/marks/logo";
import { Boundary } from "../../shared/states/boundary";
import { AgentStep } from "./agent";
import { AnswerStep } from "./answer";
import { ModelStep } from "./model";
import { STEPS, type WelcomeSearch, type WelcomeStep } from "./search";
import style from "./welcome.module.css";
import en from "./words.en.json";
import { YouStep } from "./you";

const say = createTranslator(en, "features/welcome");

const shortModelName = (id: string) => id.split("/").slice(1).join("/");

function WelcomeThread({
  step,
  search,
  isAnswered,
}: {
  step: WelcomeStep;
  search: WelcomeSearch;
  isAnswered: boolean;
}) {
  const { data: me } = useQuery({ ...meQuery, enabled: step !== "you" });
  // The last knot is done as the others are: when what it stands for is there.
  const now = isAnswered && step === "answer" ? STEPS.length : STEPS.indexOf(step);
  const hints: Record<WelcomeStep, string> = {
    you: me?.email ?? say("youHint"),
    model: search.model ? shortModelName(search.model) : say("modelHint"),
    agent: search.agent ? say("agentReady") : say("agentHint"),
    answer: say(isAnswered ? "answerReady" : "answerHint"),
  };
  return (
    <ol className={`thread ${style.steps}`} aria-label={say("steps")}>
      {STEPS.map((name, i) => (
        <li key={name} className={i < now ? "" : "next"} aria-current={i === now ? "step" : undefined}>
          <i className={`knot ${i < now ? "ok" : i === now ? "run" : "next"}`} />
          <div className={i === now ? "t-600" : i < now ? "t-500" : "t-2"}>
            {say(name)}
            {i < now && <span className="sr"> {say("done")}</span>}
          </div>
          <div className={`t-13 t-3 cut ${style.what}`}>{hints[name]}</div>
        </li>
      ))}
    </ol>
  );
}

/** Four knots on a thread: you, a model, an agent, a first answer. Each may be left. */
export default function WelcomePage() {
  const isIn = useSyncExternalStore(subscribeToSession, readSessionState) !== "signed-out";
  const search = useSearch({ from: "/welcome" });
  const navigate = useNavigate();
  const [isAnswered, setAnswered] = useState(false);
  const { data: role } = useQuery({ ...permissionsQuery, enabled: isIn });
  // Who may not add a key begins with an agent: the models of the others are there already.
  const canConnect = role?.permissions.includes("api_keys:write") ?? false;
  const wanted = search.step && search.step !== "you" ? search.step : "model";
  const step = !isIn ? "you" : wanted === "model" && role && !canConnect ? "agent" : wanted;
  const goToStep = (change: WelcomeSearch) =>
    void navigate({ to: "/welcome", search: { ...search, ...change }, hash: "", replace: step === "you" });
  return (
    <div className={style.page}>
      <header className={style.top}>
        <span className="row g8">
          <Logo size={22} />
          <b className="t-600">Retinue</b>
        </span>
        <span className="row g8">
          {isIn && (
            <Link className="t-13 t-2" to="/">
              {say("later")}
            </Link>
          )}
          <SchemeSwitch />
        </span>
      </header>
      <main className={style.main} id="main" data-wide={step === "answer" || undefined}>
        <WelcomeThread step={step} search={search} isAnswered={isAnswered} />
        <Boundary>
          {step === "you" && <YouStep onDone={() => goToStep({ step: "model" })} />}
          {step === "model" && canConnect && (
            <ModelStep chosenModel={search.model} onDone={(model) => goToStep({ step: "agent", model })} />
          )}
          {step === "agent" && (
            <AgentStep
              model={search.model}
              onBack={canConnect ? () => goToStep({ step: "model" }) : undefined}
              onDone={(agent) => goToStep({ step: "answer", agent })}
            />
          )}
          {step === "answer" && (
            <AnswerStep
              agentId={search.agent}
              onBack={() => goToStep({ step: "agent" })}
              onAnswer={() => setAnswered(true)}
            />
          )}
        </Boundary>
      </main>
    </div>
  );
}
