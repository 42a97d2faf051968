import ThumbsDown from "icon:thumbs-down";
import ThumbsUp from "icon:thumbs-up";
import { Button, Textarea } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { components } from "../../../api/schema";
import type { Feedback, Turn } from "../../../shared/chat/chat";
import { createTranslator } from "../../../shared/i18n/words";
import type { ChatAgent } from "../chat_agents";
import style from "./feedback.module.css";
import message from "./message.module.css";
import { MessageAction } from "./message_action";
import type { ReplyActions } from "./reply_actions";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");

type Reason = components["schemas"]["FeedbackReason"];
const REASONS: Reason[] = ["wrong", "unhelpful", "wrong_source", "incomplete", "too_long", "language"];

type Props = {
  agent: ChatAgent;
  turn: Turn;
  isQuiet: boolean;
  onRate: ReplyActions["onRate"];
  before: ReactNode;
  after: ReactNode;
};

/** The line of buttons below a reply, with the thumbs; a bad answer asks what was wrong with it. */
export function FeedbackActions({ agent, turn, isQuiet, onRate, before, after }: Props) {
  const [isAsked, setAsked] = useState(false);
  const rating = turn.feedback?.rating;
  const rateReply = (next: "positive" | "negative") => {
    onRate?.(turn, { rating: rating === next ? "none" : next });
    setAsked(next === "negative" && rating !== next);
  };
  return (
    <>
      <div className={message.under} data-quiet={(isQuiet && !rating) || undefined}>
        {before}
        {onRate && (
          <>
            <MessageAction label={say("good")} isOn={rating === "positive"} onClick={() => rateReply("positive")}>
              <ThumbsUp size={15} />
            </MessageAction>
            <MessageAction label={say("bad")} isOn={rating === "negative"} onClick={() => rateReply("negative")}>
              <ThumbsDown size={15} />
            </MessageAction>
          </>
        )}
        {after}
      </div>
      {isAsked && onRate && (
        <FeedbackReasonForm
          agent={agent}
          turn={turn}
          onSend={(feedback) => {
            setAsked(false);
            if (feedback) onRate(turn, feedback);
          }}
        />
      )}
    </>
  );
}

type ReasonProps = { agent: ChatAgent; turn: Turn; onSend: (feedback?: Feedback) => void };

function FeedbackReasonForm({ agent, turn, onSend }: ReasonProps) {
  const [reasons, setReasons] = useState<Reason[]>(turn.feedback?.reasons ?? []);
  const [comment, setComment] = useState(turn.feedback?.comment ?? "");
  const toggleReason = (reason: Reason) =>
    setReasons((all) => (all.includes(reason) ? all.filter((one) => one !== reason) : [...all, reason]));
  const submitFeedback = () =>
    onSend(
      reasons.length || comment.trim()
        ? { rating: "negative", reasons, ...(comment.trim() ? { comment: comment.trim() } : {}) }
        : undefined,
    );
  return (
    <section className={style.reason} aria-label={say("whatWasWrong")}>
      <div className="row g8 wrap">
        <b className="t-13 t-500 grow">{say("whatWasWrong")}</b>
        <span className="t-12 t-3">{say("goesToCarers", { name: agent.name })}</span>
      </div>
      <div className="row g6 wrap">
        {REASONS.map((reason) => (
          <button
            key={reason}
            type="button"
            className={style.chip}
            aria-pressed={reasons.includes(reason)}
            onClick={() => toggleReason(reason)}
          >
            {say(`reason_${reason}` as keyof typeof en)}
          </button>
        ))}
      </div>
      <form
        className="row g6"
        onSubmit={(event) => {
          event.preventDefault();
          submitFeedback();
        }}
      >
        <Textarea
          className="grow"
          autosize
          minRows={1}
          maxRows={5}
          maxLength={2000}
          aria-label={say("inYourWords")}
          placeholder={say("inYourWords")}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
        />
        <Button size="sm" type="submit">
          {say("send")}
        </Button>
      </form>
    </section>
  );
}
