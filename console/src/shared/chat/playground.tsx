import RotateCcw from "icon:rotate-ccw";
import { ActionIcon, Select, Tooltip } from "@mantine/core";
import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useMay } from "../../api/queries";
import { useKeys } from "../frame/keys";
import { words } from "../i18n/words";
import { Pill } from "../marks/status";
import { useNeeds } from "../states/access";
import { money } from "../time";
import type { Attached } from "./attachments";
import { isDemoKnown, type Turn } from "./chat";
import style from "./chat.module.css";
import { Composer } from "./composer";
import { Reply } from "./reply";
import { useChat } from "./use_chat";
import { useComposer } from "./use_composer";
import en from "./words.en.json";

const say = words(en, "shared/chat");
const AT_END_PX = 60;
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
export function Playground(props: Props) {
  const { agentId, from } = props;
  const begun = useRef({ agentId, from });
  // The address forgets where a conversation came from with its first question; the conversation stays the same.
  if (from || begun.current.agentId !== agentId) begun.current = { agentId, from };
  return <Talk key={`${agentId}.${begun.current.from ?? ""}`} {...props} from={begun.current.from} />;
}

function Talk({ agentId, version, from, beforeSend, suggestions = [], onAnswer }: Props) {
  const may = useMay();
  const needs = useNeeds("agents:chat");
  const [as, setAs] = useState<"self" | "visitor">("self");
  const options = { ...(version ? { version } : {}), ...(as === "visitor" ? { as } : {}) };
  const composer = useComposer(from ? `${agentId}.${from}` : agentId);
  const chat = useChat({
    agentId,
    options,
    from,
    beforeSend,
    onKept: composer.settle,
    refused: composer.refused,
    onUnanswered: (turn, error) => {
      composer.putBack(turn.question, turn.attachments, error.details);
      if (!turn.messageId) composer.refuse(turn.question, turn.attachments, error);
    },
    onAnswered: composer.forget,
  });
  const [traced, setTraced] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const { log, onScroll } = useStickyEnd(chat.turns);
  const last = chat.turns.at(-1);
  const isAnswered = Boolean(last?.text && !last.isLive && !last.error);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer, not for each new function
  useEffect(() => {
    if (isAnswered) onAnswer?.();
  }, [isAnswered]);
  useKeys({ t: () => setTraced((open) => (open || !last ? "" : last.id)) });
  const sendWritten = () => {
    const { text, files } = composer.take();
    void chat.send(text, files);
  };
  const sendGiven = (question: string, files: Attached[] = []) => {
    composer.ask(question, files);
    void chat.send(question, files);
  };
  /** What was put back is sent as it stands there now; somebody may have changed it. */
  const tryAgain = (turn: Turn) => (composer.isReady ? sendWritten() : sendGiven(turn.question, turn.attachments));
  const reset = () => {
    chat.reset();
    // A question that is discarded on its way is not put back.
    composer.settle();
    field.current?.focus();
  };
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== "Backspace" || !(event.metaKey || event.ctrlKey)) return;
    if (event.target instanceof HTMLTextAreaElement && event.target.value) return;
    event.preventDefault();
    reset();
  };
  if (!may("agents:chat")) return <p className={`t-3 ${style.none}`}>{needs}</p>;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the fields inside bubble to here
    <div className={style.playground} onKeyDown={onKey}>
      <div className={style.head}>
        <h2 className="t-sec">{say("playground")}</h2>
        {version && <Pill tone="warn">{version === "draft" ? say("draft") : `v${version}`}</Pill>}
        {version && may("agents:read") && (
          <Select
            className="push"
            size="xs"
            w={140}
            aria-label={say("as")}
            data={[
              { value: "self", label: say("asSelf") },
              { value: "visitor", label: say("asVisitor") },
            ]}
            value={as}
            onChange={(value) => setAs(value === "visitor" ? "visitor" : "self")}
          />
        )}
        <Tooltip label={say("again")}>
          <ActionIcon
            className={version ? undefined : "push"}
            aria-label={say("again")}
            onClick={reset}
            disabled={!chat.turns.length}
          >
            <RotateCcw size={15} />
          </ActionIcon>
        </Tooltip>
      </div>
      <div
        className={style.log}
        ref={log}
        role="log"
        aria-live="polite"
        aria-busy={chat.isLive}
        aria-label={say("log")}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        tabIndex={0}
      >
        {chat.turns.length === 0 && <p className="t-3">{say(version === "draft" ? "emptyDraft" : "empty")}</p>}
        {chat.turns.length === 0 && suggestions.length > 0 && (
          <div className={style.suggestions}>
            {suggestions.map((question) => (
              <button type="button" key={question} onClick={() => sendGiven(question)}>
                {question}
              </button>
            ))}
          </div>
        )}
        {chat.turns.map((turn) => (
          <Reply
            key={turn.id}
            turn={turn}
            isDemoKnown={isDemoKnown(turn, chat.turns)}
            onRate={may("conversations:write") ? chat.rate : undefined}
            isTraceOpen={traced === turn.id}
            isPutBack={turn === last && composer.isReady}
            onRetry={turn === last && turn.error && !chat.isLive ? tryAgain : undefined}
          />
        ))}
      </div>
      <Composer
        state={composer}
        field={field}
        isLive={chat.isLive}
        canStop={Boolean(chat.live)}
        note={costNote(chat.turns)}
        takesFiles={may("files:write")}
        onSend={sendWritten}
        onStop={chat.stop}
      />
    </div>
  );
}

/** Follow the end while it is in view; a reader who scrolls up stays there. */
function useStickyEnd(turns: Turn[]): { log: RefObject<HTMLDivElement | null>; onScroll: () => void } {
  const log = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const count = useRef(0);
  useLayoutEffect(() => {
    // A new question always shows, wherever one was reading.
    if (turns.length !== count.current) isAtEnd.current = true;
    count.current = turns.length;
    if (isAtEnd.current) log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [turns]);
  const onScroll = () => {
    const box = log.current;
    if (box) isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < AT_END_PX;
  };
  return { log, onScroll };
}

function costNote(turns: Turn[]): string {
  const costs = turns.flatMap(({ stop }) =>
    typeof stop?.estimated_cost_usd === "number" ? [stop.estimated_cost_usd] : [],
  );
  const sum = costs.reduce((all, one) => all + one, 0);
  return sum > 0 ? say("aboutCost", { cost: money(sum / costs.length) }) : "";
}
