import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { useShortcutKeys } from "../frame/keys";
import { createTranslator } from "../i18n/words";
import { useMissingAccessHint } from "../states/access";
import { formatMoney } from "../time";
import { isDemoWarningKnown, type Turn } from "./chat";
import style from "./chat.module.css";
import { ChatLog, EmptyChatLog } from "./chat_log";
import { ChatComposer } from "./composer";
import { type Asker, PlaygroundHead } from "./playground_head";
import { AgentReply } from "./reply";
import { useConversation } from "./use_talk";
import en from "./words.en.json";

const say = createTranslator(en, "shared/chat");
type Props = {
  agentId: string;
  /** What answers; without it, the agent as it is. */
  version?: number | "draft";
  /** A conversation that this one goes on from. */
  from?: string;
  /** Runs before a message is sent, so that the server has what was typed. */
  beforeSend?: () => Promise<void>;
  /** Questions to begin with. */
  suggestions?: string[];
  /** Runs when a whole answer is there. */
  onAnswer?: () => void;
};

/** A conversation with an agent that is being made: what it says, what it does, what that takes and costs. */
export function ChatPlayground(props: Props) {
  const { agentId, from } = props;
  const begun = useRef({ agentId, from });
  // The address forgets where a conversation came from with its first question; the conversation stays the same.
  if (from || begun.current.agentId !== agentId) begun.current = { agentId, from };
  return <PlaygroundChat key={`${agentId}.${begun.current.from ?? ""}`} {...props} from={begun.current.from} />;
}

function PlaygroundChat({ agentId, version, from, beforeSend, suggestions = [], onAnswer }: Props) {
  const may = usePermissionCheck();
  const needs = useMissingAccessHint("agents:chat");
  const [asker, setAsker] = useState<Asker>("self");
  const options = { ...(version ? { version } : {}), ...(asker === "visitor" ? { as: asker } : {}) };
  const talk = useConversation({ agentId, from, options, beforeSend });
  const { composer, session, turns, live, isLive } = talk;
  const [traced, setTraced] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const last = turns.at(-1);
  const isAnswered = Boolean(last?.text && !last.isLive && !last.error);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer, not for each new function
  useEffect(() => {
    if (isAnswered) onAnswer?.();
  }, [isAnswered]);
  useShortcutKeys({ t: () => setTraced((open) => (open || !last ? "" : last.id)) });
  const resetAndFocus = () => {
    talk.reset();
    field.current?.focus();
  };
  const handleKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!isResetKey(event)) return;
    event.preventDefault();
    resetAndFocus();
  };
  if (!may("agents:chat")) return <p className={`t-3 ${style.none}`}>{needs}</p>;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the fields inside bubble to here
    <div className={style.playground} onKeyDown={handleKeyDown}>
      <PlaygroundHead
        version={version}
        asker={asker}
        onAsker={setAsker}
        canReset={turns.length > 0}
        onReset={resetAndFocus}
      />
      <ChatLog turns={turns} isLive={isLive}>
        {turns.length === 0 && (
          <EmptyChatLog isDraft={version === "draft"} suggestions={suggestions} onAsk={talk.sendGiven} />
        )}
        {turns.map((turn) => (
          <AgentReply
            key={turn.id}
            turn={turn}
            isDemoKnown={isDemoWarningKnown(turn, turns)}
            onRate={may("conversations:write") ? session.rate : undefined}
            isTraceOpen={traced === turn.id}
            isPutBack={turn === last && composer.isReady}
            onRetry={turn === last && turn.error && !isLive ? talk.retry : undefined}
          />
        ))}
      </ChatLog>
      <ChatComposer
        state={composer}
        field={field}
        isLive={isLive}
        canStop={Boolean(live)}
        note={describeCost(turns)}
        takesFiles={may("files:write")}
        onSend={talk.sendWritten}
        onStop={() => session.stop()}
      />
    </div>
  );
}

/** Whether a key begins a new conversation, which it does not while something is written in a field. */
function isResetKey({ key, metaKey, ctrlKey, target }: KeyboardEvent<HTMLElement>): boolean {
  if (key !== "Backspace" || !(metaKey || ctrlKey)) return false;
  return !(target instanceof HTMLTextAreaElement && target.value);
}

function describeCost(turns: Turn[]): string {
  const costs = turns.flatMap(({ stop }) =>
    typeof stop?.estimated_cost_usd === "number" ? [stop.estimated_cost_usd] : [],
  );
  const sum = costs.reduce((all, one) => all + one, 0);
  return sum > 0 ? say("aboutCost", { cost: formatMoney(sum / costs.length) }) : "";
}
