import { Button } from "@mantine/core";
import { memo, useDeferredValue, useEffect, useRef } from "react";
import { asApiError } from "../../api/errors";
import { isDemoWarningKnown, type Turn } from "../../shared/chat/chat";
import { CompactionNote } from "../../shared/chat/compacted";
import { AgentReply } from "../../shared/chat/reply";
import type { ConversationDetail } from "../../shared/conversations/conversation_query";
import { createTranslator } from "../../shared/i18n/words";
import { ConversationFacts } from "./conversation_facts";
import style from "./conversations.module.css";
import type { Earlier } from "./earlier";
import { GivenFeedback } from "./given_feedback";
import { RenderWhenNear } from "./near";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");
/** Longer conversations are drawn only where one looks. */
const MAX_DRAWN = 20;
const REPLY_PX = 320;

type Props = {
  conversation: ConversationDetail;
  earlier: Earlier;
  chosen?: string;
  isAsked: boolean;
  onTrace: (id: string) => void;
};

/** What was said, the last part of a long conversation first; earlier parts come on request. */
export function ConversationTranscript({ conversation, earlier, onTrace, ...turn }: Props) {
  // The turn that was clicked opens first; its reply is marked and brought into sight after that.
  const chosen = useDeferredValue(turn.chosen);
  const isAsked = useDeferredValue(turn.isAsked);
  const body = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!chosen || !isAsked || window.matchMedia("(max-width: 860px)").matches) return;
    body.current?.querySelector("[data-chosen]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, isAsked]);
  const { turns } = earlier;
  return (
    <section
      className={style.text}
      ref={body}
      aria-label={say("transcript")}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
    >
      <ConversationFacts conversation={conversation} messages={earlier.messages} />
      {earlier.hiddenMessages > 0 && (
        <div className="row g8 wrap">
          <span className="t-12 t-3 num grow" role="status">
            {earlier.error ? asApiError(earlier.error).message : say("older", { count: earlier.messages.length })}
          </span>
          <Button size="xs" variant="default" loading={earlier.isLoading} onClick={earlier.load}>
            {say("earlier")}
          </Button>
        </div>
      )}
      {conversation.compaction && !turns.some((one) => one.stop?.compaction) && (
        <CompactionNote compaction={conversation.compaction} isBefore />
      )}
      {turns.length === 0 && <p className="t-3">{say("noMessages")}</p>}
      <TranscriptReplies turns={turns} chosen={chosen} onTrace={onTrace} />
    </section>
  );
}

type RepliesProps = { turns: Turn[]; chosen?: string; onTrace: (id: string) => void };

const TranscriptReplies = memo(function Replies({ turns, chosen, onTrace }: RepliesProps) {
  return turns.map((turn) => {
    const traceId = turn.stop?.trace_id;
    const isChosen = Boolean(traceId) && traceId === chosen;
    return (
      <RenderWhenNear key={turn.id} height={REPLY_PX} isAlways={isChosen || turns.length <= MAX_DRAWN}>
        <AgentReply turn={turn} isDemoKnown={isDemoWarningKnown(turn, turns)} onTrace={onTrace} isChosen={isChosen} />
        <GivenFeedback feedback={turn.feedback} />
      </RenderWhenNear>
    );
  });
});
