import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useRef } from "react";
import { usePermissionCheck } from "../../api/queries";
import { conversationQuery } from "../../shared/conversations/conversation_query";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { messagesQuery } from "../../shared/trace/queries";
import { findChosenTrace } from "./chosen_trace";
import { ConversationActions } from "./conversation_actions";
import style from "./conversations.module.css";
import { useEarlierMessages } from "./earlier";
import { ConversationTranscript } from "./transcript";
import { TurnList } from "./turns";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");

export default function ConversationPage() {
  const { conversationId } = useParams({ from: "/frame/conversations/$conversationId" });
  const { turn, step, correlation } = useSearch({ from: "/frame/conversations/$conversationId" });
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const trace = useRef<HTMLElement>(null);
  const found = useQuery(conversationQuery(conversationId));
  const messages = useQuery(messagesQuery(conversationId));
  const earlier = useEarlierMessages(conversationId, messages.data);
  const choose = useCallback(
    (next: { turn?: string; step?: string }) =>
      void navigate({
        to: "/conversations/$conversationId",
        params: { conversationId },
        search: (before) => ({ ...before, ...next }),
        replace: true,
      }),
    [navigate, conversationId],
  );
  const onTrace = useCallback(
    (id: string) => {
      choose({ turn: id, step: undefined });
      // On narrow screens the trace stands under the transcript.
      if (window.matchMedia("(max-width: 860px)").matches) trace.current?.scrollIntoView({ block: "start" });
    },
    [choose],
  );
  const trail = [{ label: say("title"), to: "/conversations" }];
  const error = found.error ?? messages.error;
  if (!found.data || !messages.data)
    return (
      <>
        <PageBar trail={trail} title={error ? conversationId : "…"} isThere={false} />
        {error ? (
          <FailureState error={error} onRetry={() => void found.refetch().then(() => messages.refetch())} />
        ) : (
          <RowSkeletons columns={[30, 300]} />
        )}
      </>
    );
  const conversation = found.data;
  const { chosen, isAsked } = findChosenTrace(messages.data.data, turn, correlation);
  const hasTraces = may("traces:read");
  return (
    <>
      <PageBar
        trail={trail}
        title={conversation.title || say("untitled")}
        after={
          <span className="wide">
            <CopyableId>{conversation.id}</CopyableId>
          </span>
        }
      >
        <ConversationActions conversation={conversation} />
      </PageBar>
      <div className={`${style.split} ${hasTraces ? "" : style.alone}`}>
        <ConversationTranscript
          conversation={conversation}
          earlier={earlier}
          chosen={hasTraces ? chosen : undefined}
          isAsked={isAsked}
          onTrace={onTrace}
        />
        {hasTraces && (
          <section className={style.trace} ref={trace} aria-label={say("trace")}>
            <TurnList
              conversationId={conversationId}
              earlier={earlier}
              turn={chosen}
              correlation={correlation}
              step={step}
              onChoose={choose}
            />
          </section>
        )}
      </div>
    </>
  );
}
