import ChevronDown from "icon:chevron-down";
import FileText from "icon:file-text";
import ThumbsDown from "icon:thumbs-down";
import ThumbsUp from "icon:thumbs-up";
import { ActionIcon, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { lazy, memo, Suspense, useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import { Markdown } from "../markdown/markdown";
import { formatDecimal, formatDuration, formatExactTime, formatMoney } from "../time";
import { AttachedFiles } from "./attached_files";
import { ToolCallView, WaitingApprovals } from "./call";
import { type Feedback, isWaitingTurn, listShownWarnings, type Rating, type Turn } from "./chat";
import style from "./chat.module.css";
import { CompactionNote } from "./compacted";
import { ChatNotice, describeWarning, ReplyError } from "./trouble";
import en from "./words.en.json";

const say = createTranslator(en, "shared/chat");
const UNPRICED = "unpriced_model";
const COMPACTED = "history_compacted";
const DEMO = "demo_model";
const ReplyTrace = lazy(() => import("./reply_trace"));
const ENDS: Record<string, string> = {
  length: say("length"),
  tool_limit: say("tool_limit"),
  cancelled: say("stopped"),
  content_filter: say("content_filter"),
};

type Props = {
  turn: Turn;
  /** An earlier reply says that the demo model answers. */
  isDemoKnown?: boolean;
  /** Shows the trace elsewhere on the page; without it, a trace opens under its reply. */
  onTrace?: (id: string) => void;
  isChosen?: boolean;
  isTraceOpen?: boolean;
  onRate?: (turn: Turn, feedback: Feedback) => void;
  /** Asks once more what got no answer. */
  onRetry?: (turn: Turn) => void;
  /** What got no answer stands in the field below once more. */
  isPutBack?: boolean;
};

/** One question with what came back: warnings, tool calls, the text, its sources, one line of figures. */
export const AgentReply = memo(function Reply(props: Props) {
  const { turn, isDemoKnown = false, onTrace, isChosen, isTraceOpen = false, onRate, onRetry, isPutBack } = props;
  const [lit, setLit] = useState(0);
  const [isOpen, setOpen] = useState(isTraceOpen);
  const [wasOpen, setWasOpen] = useState(isTraceOpen);
  const may = usePermissionCheck();
  // The key for the trace of the last reply opens it from outside.
  if (wasOpen !== isTraceOpen) {
    setWasOpen(isTraceOpen);
    setOpen(isTraceOpen);
  }
  const traceId = may("traces:read") ? (turn.stop?.trace_id ?? undefined) : undefined;
  const sources = turn.stop?.sources ?? [];
  // That a price is unknown belongs to the figures, and a long history to the line above the question.
  const shown = listShownWarnings(turn, isDemoKnown);
  const warnings = shown.filter((code) => ![UNPRICED, COMPACTED, DEMO].includes(code));
  return (
    <div className={style.turn} data-chosen={isChosen || undefined}>
      {turn.stop?.compaction && <CompactionNote compaction={turn.stop.compaction} />}
      {turn.question && <div className={style.question}>{turn.question}</div>}
      {turn.attachments && turn.attachments.length > 0 && (
        <div className={style.sent}>
          <AttachedFiles files={turn.attachments} />
        </div>
      )}
      {warnings.map((code) => (
        <ChatNotice key={code} tone="warn">
          {describeWarning(code)}
        </ChatNotice>
      ))}
      {turn.calls.map((call, i) => (
        <ToolCallView key={i} call={call} />
      ))}
      {turn.text && <Markdown onCite={sources.length ? setLit : undefined}>{turn.text}</Markdown>}
      {turn.isLive && <span className="caret" aria-hidden />}
      {isWaitingTurn(turn) && <WaitingApprovals calls={turn.calls} />}
      {turn.isLost && <ChatNotice tone="warn">{say("connectionLost")}</ChatNotice>}
      {turn.error && (
        <ReplyError turn={turn} error={turn.error} isPutBack={isPutBack} onRetry={onRetry && (() => onRetry(turn))} />
      )}
      <ReplySources turn={turn} lit={lit} onLight={setLit} />
      {shown.includes(DEMO) && <DemoHint />}
      {turn.stop && (
        <div className={style.under}>
          <ReplyFigureList turn={turn} />
          {traceId && (
            <TraceButton
              isOpen={onTrace ? isChosen : isOpen}
              onToggle={() => (onTrace ? onTrace(traceId) : setOpen(!isOpen))}
              isFolding={!onTrace}
            />
          )}
          {onRate && turn.messageId && !isWaitingTurn(turn) && <RatingButtons turn={turn} onRate={onRate} />}
        </div>
      )}
      {isOpen && traceId && !onTrace && (
        <Suspense fallback={null}>
          <ReplyTrace traceId={traceId} />
        </Suspense>
      )}
    </div>
  );
});

/** Which model answered is worth knowing, but less than the answer: it stands small beneath it. */
function DemoHint() {
  const may = usePermissionCheck();
  return (
    <p className={`t-12 t-3 ${style.demo}`}>
      {say("demo_model")}{" "}
      {may("api_keys:write") && (
        <Link className="inline-link" to="/settings/models" search={{ add: true }}>
          {say("addKey")}
        </Link>
      )}
    </p>
  );
}

type SourceProps = { turn: Turn; lit: number; onLight: (index: number) => void };

function ReplySources({ turn, lit, onLight }: SourceProps) {
  const sources = turn.stop?.sources ?? [];
  if (!sources.length) return null;
  return (
    <ul className={style.sources} aria-label={say("sources")}>
      {sources.map((source, i) => {
        const number = source.index || i + 1;
        return (
          <li key={number} className={style.source} data-lit={lit === number} title={source.chunk_preview}>
            <button type="button" aria-pressed={lit === number} onClick={() => onLight(lit === number ? 0 : number)}>
              <span className="num">{number}</span>
              <FileText size={13} />
              <span className="cut">{source.document_name}</span>
              {source.page != null && <span className="t-3 fix">{say("page", { page: source.page })}</span>}
              <span
                className={style.score}
                role="img"
                aria-label={say("relevance", { score: formatDecimal(source.relevance_score, 2) })}
              >
                <i style={{ width: `${source.relevance_score * 100}%` }} />
              </span>
            </button>
            {source.url && /^https?:/.test(source.url) && (
              <a className="inline-link" href={source.url} target="_blank" rel="noopener noreferrer nofollow">
                {say("openSource")}
              </a>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function ReplyFigureList({ turn }: { turn: Turn }) {
  const { stop } = turn;
  if (!stop) return null;
  const { total_tokens: total = 0, prompt_tokens: prompt = 0, cached_tokens: cached = 0 } = stop.usage ?? {};
  return (
    <div className={`${style.meta} num`}>
      {turn.askedAt && <span>{formatExactTime(turn.askedAt)}</span>}
      {turn.tookMs !== undefined && <span>{formatDuration(turn.tookMs)}</span>}
      {turn.firstMs !== undefined && <span>{say("firstWord", { time: formatDuration(turn.firstMs) })}</span>}
      <span>{say("tokens", { count: total })}</span>
      {cached > 0 && prompt > 0 && <span>{say("cached", { percent: Math.round((cached / prompt) * 100) })}</span>}
      {typeof stop.estimated_cost_usd === "number" ? (
        <span>{formatMoney(stop.estimated_cost_usd)}</span>
      ) : (
        stop.warnings?.includes(UNPRICED) && <span title={say(UNPRICED)}>{say("unpriced")}</span>
      )}
      {ENDS[stop.finish_reason] && <span>{ENDS[stop.finish_reason]}</span>}
    </div>
  );
}

type TraceProps = { isOpen?: boolean; isFolding: boolean; onToggle: () => void };

function TraceButton({ isOpen, isFolding, onToggle }: TraceProps) {
  const state = isFolding ? { "aria-expanded": isOpen } : { "aria-pressed": isOpen };
  return (
    <button type="button" className={style.trace} {...state} onClick={onToggle}>
      {say("trace")}
      {isFolding && <ChevronDown size={13} className={isOpen ? style.up : ""} />}
    </button>
  );
}

function RatingButtons({ turn, onRate }: { turn: Turn; onRate: NonNullable<Props["onRate"]> }) {
  const [comment, setComment] = useState<string>();
  const rateReply = (rating: Rating) => {
    const next = turn.feedback?.rating === rating ? "none" : rating;
    onRate(turn, { rating: next });
    setComment(next === "negative" ? "" : undefined);
  };
  return (
    <>
      <span className={style.thumbs}>
        <ActionIcon
          size={24}
          aria-label={say("good")}
          aria-pressed={turn.feedback?.rating === "positive"}
          onClick={() => rateReply("positive")}
        >
          <ThumbsUp size={14} />
        </ActionIcon>
        <ActionIcon
          size={24}
          aria-label={say("bad")}
          aria-pressed={turn.feedback?.rating === "negative"}
          onClick={() => rateReply("negative")}
        >
          <ThumbsDown size={14} />
        </ActionIcon>
      </span>
      {comment !== undefined && turn.feedback?.rating === "negative" && (
        <form
          className={style.comment}
          onSubmit={(event) => {
            event.preventDefault();
            if (comment.trim()) onRate(turn, { rating: "negative", comment: comment.trim() });
            setComment(undefined);
          }}
        >
          <TextInput
            size="xs"
            aria-label={say("whatWasWrong")}
            placeholder={say("whatWasWrong")}
            maxLength={2000}
            value={comment}
            onChange={(event) => setComment(event.currentTarget.value)}
          />
        </form>
      )}
    </>
  );
}
