import ArrowUpRight from "icon:arrow-up-right";
import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { meQuery } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { AgentMark } from "../../shared/marks/agent_mark";
import { type ChatAgent, findChatAgents } from "./chat_agents";
import style from "./start.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat");
/** More agents than stand in two lines are found by name. */
const MAX_CARDS = 6;
const chooseGreeting = (hour: number) =>
  hour < 5 ? "night" : hour < 12 ? "morning" : hour < 18 ? "afternoon" : "evening";

export function ChatGreeting() {
  const { data: me } = useQuery(meQuery);
  const name = me?.first_name ?? "";
  return (
    <div className={style.hello} data-start>
      <h1 className="t-display">{say(chooseGreeting(new Date().getHours()), { name })}</h1>
      <p className="t-2">{say("whom")}</p>
    </div>
  );
}

/** What an agent takes beside words. */
function describeInputs({ takes }: ChatAgent): string {
  const kinds = [takes.files.includes("image") && say("images"), takes.voice && say("voice")].filter(Boolean);
  return [say("documents"), ...kinds].join(", ");
}

type CardProps = { agents: readonly ChatAgent[]; chosen: string; onChoose: (id: string) => void };

/** The agents to choose from. The chosen one is always among them. */
export function AgentCards({ agents, chosen, onChoose }: CardProps) {
  const [text, setText] = useState("");
  const isMany = agents.length > MAX_CARDS;
  const found = findChatAgents(agents, text);
  const shown = isMany && !text ? putFirst(agents, chosen).slice(0, MAX_CARDS) : found;
  return (
    <>
      {isMany && (
        <TextInput
          size="xs"
          className={style.findAgent}
          data-start
          aria-label={say("findAgent")}
          placeholder={say("findAgentOf", { count: agents.length })}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      <div className={style.cards} data-start role="radiogroup" aria-label={say("agent")}>
        {shown.map((agent) => (
          // biome-ignore lint/a11y/useSemanticElements: a card holds more than a radio button may
          <button
            key={agent.id}
            type="button"
            role="radio"
            aria-checked={agent.id === chosen}
            className={style.card}
            onClick={() => onChoose(agent.id)}
          >
            <AgentMark id={agent.id} size={34} />
            <b>{agent.name}</b>
            <span className={style.does}>{agent.description || say("noDescription")}</span>
            <span className={style.takes}>{describeInputs(agent)}</span>
          </button>
        ))}
      </div>
      {shown.length === 0 && (
        <p className={`t-13 t-2 ${style.noAgent}`} data-start>
          {say("noAgentFound", { text })}
        </p>
      )}
    </>
  );
}

const putFirst = (agents: readonly ChatAgent[], id: string) => [
  ...agents.filter((one) => one.id === id),
  ...agents.filter((one) => one.id !== id),
];

type StarterProps = { agent: ChatAgent; onAsk: (question: string) => void };

/** Questions to begin with. */
export const ChatStarters = ({ agent, onAsk }: StarterProps) =>
  agent.starters.length > 0 && (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid in every browser
    <div className={style.starters} data-start role="group" aria-label={say("beginWith", { name: agent.name })}>
      {agent.starters.map((question) => (
        <button key={question} type="button" className={style.starter} onClick={() => onAsk(question)}>
          <span>{question}</span>
          <ArrowUpRight size={14} />
        </button>
      ))}
    </div>
  );
