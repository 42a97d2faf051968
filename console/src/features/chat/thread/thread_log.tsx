import ArrowDown from "icon:arrow-down";
import type { ReactNode } from "react";
import type { Turn } from "../../../shared/chat/chat";
import { useStickyEnd } from "../../../shared/chat/chat_log";
import { createTranslator } from "../../../shared/i18n/words";
import { plainTextOf, splitSentences } from "./reply_text";
import style from "./thread.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");

/** The messages of a conversation. It stays at its end while somebody reads there, and leads back to it. */
export function ThreadLog({ turns, children }: { turns: Turn[]; children: ReactNode }) {
  const { log, onScroll, isAway, showEnd } = useStickyEnd(turns);
  return (
    <div className={style.logBox}>
      <div
        className={style.log}
        ref={log}
        role="log"
        aria-live="off"
        aria-label={say("conversation")}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        tabIndex={0}
      >
        <div className={style.column}>{children}</div>
      </div>
      {isAway && (
        <button type="button" className={style.toEnd} aria-label={say("toEnd")} onClick={showEnd}>
          <ArrowDown size={16} />
        </button>
      )}
      <SpokenReply turn={turns.at(-1)} />
    </div>
  );
}

/** Tells assistive technology what is being written, sentence by sentence; what was there before is not told. */
function SpokenReply({ turn }: { turn: Turn | undefined }) {
  const isOfNow = turn?.startedMs !== undefined;
  const sentences = isOfNow ? splitSentences(plainTextOf(turn.text), !turn.isLive) : [];
  return (
    <div className="sr" aria-live="polite" aria-atomic="false" data-spoken>
      {sentences.map((sentence, at) => (
        <p key={`${turn?.id}.${at}`}>{sentence}</p>
      ))}
    </div>
  );
}
