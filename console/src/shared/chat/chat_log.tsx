import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { createTranslator } from "../i18n/words";
import type { Turn } from "./chat";
import style from "./chat.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/chat");
const AT_END_PX = 60;

/** The replies of a conversation; it stays at its end while somebody reads there. */
export function ChatLog({ turns, isLive, children }: { turns: Turn[]; isLive: boolean; children: ReactNode }) {
  const { log, onScroll } = useStickyEnd(turns);
  return (
    <div
      className={style.log}
      ref={log}
      role="log"
      aria-live="polite"
      aria-busy={isLive}
      aria-label={say("log")}
      onScroll={onScroll}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
    >
      {children}
    </div>
  );
}

/** Follow the end while it is in view; a reader who scrolls up stays there, and `isAway` says so. */
export function useStickyEnd(turns: Turn[]) {
  const log: RefObject<HTMLDivElement | null> = useRef(null);
  const [isAway, setAway] = useState(false);
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
    if (!box) return;
    isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < AT_END_PX;
    setAway(!isAtEnd.current);
  };
  const showEnd = () => log.current?.scrollTo({ top: log.current.scrollHeight });
  return { log, onScroll, isAway, showEnd };
}

type NoTurnsProps = { isDraft: boolean; suggestions: string[]; onAsk: (question: string) => void };

/** What a conversation without a question shows: what one can do, and questions to begin with. */
export function EmptyChatLog({ isDraft, suggestions, onAsk }: NoTurnsProps) {
  return (
    <>
      <p className="t-3">{say(isDraft ? "emptyDraft" : "empty")}</p>
      {suggestions.length > 0 && (
        <div className={style.suggestions}>
          {suggestions.map((question) => (
            <button type="button" key={question} onClick={() => onAsk(question)}>
              {question}
            </button>
          ))}
        </div>
      )}
    </>
  );
}
