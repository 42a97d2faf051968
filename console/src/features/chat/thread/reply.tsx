import RefreshCw from "icon:refresh-cw";
import { lazy, memo, Suspense } from "react";
import { AttachedFiles } from "../../../shared/chat/attached_files";
import { isWaitingTurn, type Turn } from "../../../shared/chat/chat";
import { createTranslator } from "../../../shared/i18n/words";
import { Markdown } from "../../../shared/markdown/markdown";
import { AgentMark } from "../../../shared/marks/agent_mark";
import type { ChatAgent } from "../chat_agents";
import { WritingDots } from "../writing_dots";
import { FailedReply } from "./failed_reply";
import { FeedbackActions } from "./feedback";
import style from "./message.module.css";
import { CopyAction, MessageAction } from "./message_action";
import { ReadAloudAction } from "./read_aloud";
import type { ReplyActions } from "./reply_actions";
import { ReplySourceList } from "./source_list";
import { VersionSwitch } from "./version_switch";
import en from "./words.en.json";
import { WorkLine } from "./work_line";

/** Few replies wait for an approval. */
const ThreadApprovals = lazy(() => import("./approval_card").then((found) => ({ default: found.ThreadApprovals })));
const say = createTranslator(en, "features/chat/thread");

type Props = {
  agent: ChatAgent;
  turn: Turn;
  /** Somebody else's conversation: what was done there, others did. */
  isForeign: boolean;
  isLast: boolean;
  /** The question stands in the field below once more. */
  isPutBack: boolean;
  openSourceIndex?: number;
  actions: ReplyActions;
};

const ENDS: Record<string, string> = {
  cancelled: say("stopped"),
  length: say("cutAtLimit"),
  tool_limit: say("toolLimit"),
  content_filter: say("withheld"),
};

/** The answer of an agent: what it did, its words, its sources, and what one can do with it. */
export const ThreadReply = memo(function Reply(props: Props) {
  const { agent, turn, isForeign, isLast, isPutBack, openSourceIndex, actions } = props;
  const sources = turn.stop?.sources ?? [];
  const images = turn.calls.flatMap((call) => call.images ?? []);
  const isUnanswered = !turn.isLive && !turn.text && !turn.stop && !turn.error;
  const reason = turn.stop?.finish_reason ?? "";
  const end = isForeign && reason === "cancelled" ? say("stoppedByOther") : ENDS[reason];
  return (
    <article className={style.reply} aria-label={agent.name} aria-busy={turn.isLive}>
      <span className={style.gutter}>
        <AgentMark id={agent.id} size={28} />
      </span>
      <WorkLine turn={turn} />
      {images.length > 0 && (
        <div className={style.images}>
          <AttachedFiles files={images} />
        </div>
      )}
      {turn.text && (
        <div className={style.text}>
          <Markdown onCite={sources.length ? (index) => actions.onSource(turn, index) : undefined}>
            {turn.text}
          </Markdown>
        </div>
      )}
      {turn.isLive && <LiveMark turn={turn} />}
      {end && <p className="t-13 t-3">{end}</p>}
      {isWaitingTurn(turn) && (
        <Suspense fallback={null}>
          <ThreadApprovals calls={turn.calls} />
        </Suspense>
      )}
      {(turn.error || isUnanswered) && (
        <FailedReply
          agent={agent}
          turn={turn}
          isPutBack={isPutBack}
          onRetry={isLast && actions.onRetry ? () => actions.onRetry?.(turn) : undefined}
          onDiscard={turn.isRefused && !isPutBack ? actions.onDiscard : undefined}
        />
      )}
      <ReplySourceList
        sources={sources}
        openIndex={openSourceIndex}
        onOpen={(index) => actions.onSource(turn, index)}
      />
      {turn.messageId && !turn.isLive && <ReplyUnder agent={agent} turn={turn} isLast={isLast} actions={actions} />}
    </article>
  );
});

/** Where the next word comes; before the first one it says that it is being written. */
const LiveMark = ({ turn }: { turn: Turn }) =>
  turn.isLost ? (
    <p className="note warn">{say("connectionLost")}</p>
  ) : turn.text ? (
    <span className="caret" aria-hidden />
  ) : (
    <span role="status" aria-label={say("writes")}>
      <WritingDots />
    </span>
  );

type UnderProps = Pick<Props, "agent" | "turn" | "isLast" | "actions">;

function ReplyUnder({ agent, turn, isLast, actions }: UnderProps) {
  const { onWriteAgain, onRate, onVersion } = actions;
  const isWaiting = isWaitingTurn(turn);
  return (
    <FeedbackActions
      agent={agent}
      turn={turn}
      isQuiet={!isLast && (turn.replyVersions?.of ?? 1) < 2}
      onRate={isWaiting ? undefined : onRate}
      before={
        <>
          {turn.text && <CopyAction label={say("copyReply")} text={turn.text} />}
          {turn.text && agent.takes.voice && <ReadAloudAction agentId={agent.id} turn={turn} />}
          {onWriteAgain && !isWaiting && (
            <MessageAction label={say("writeAgain")} keys={isLast ? "r" : undefined} onClick={() => onWriteAgain(turn)}>
              <RefreshCw size={14} />
            </MessageAction>
          )}
        </>
      }
      after={<VersionSwitch versions={turn.replyVersions} onOpen={onVersion} />}
    />
  );
}
