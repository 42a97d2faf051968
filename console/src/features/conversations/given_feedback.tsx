import ThumbsDown from "icon:thumbs-down";
import ThumbsUp from "icon:thumbs-up";
import type { Turn } from "../../shared/chat/chat";
import { createTranslator } from "../../shared/i18n/words";
import { Note } from "../../shared/patterns/note";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");
const isWord = (key: string): key is keyof typeof en => key in en;
const describeReason = (reason: string) =>
  isWord(`reason_${reason}`) ? say(`reason_${reason}` as "reason_wrong") : reason;

/** What the person who asked thought of a reply, for those who mend the agent: the thumb, the reasons and the words. */
export function GivenFeedback({ feedback }: Pick<Turn, "feedback">) {
  if (!feedback || feedback.rating === "none") return null;
  const isGood = feedback.rating === "positive";
  const reasons = (feedback.reasons ?? []).map(describeReason).join(", ");
  return (
    <Note tone={isGood ? "ok" : "warn"} icon={isGood ? <ThumbsUp size={15} /> : <ThumbsDown size={15} />}>
      <b className="t-500">{say(isGood ? "ratedGood" : "ratedBad")}</b>
      {reasons && ` ${reasons}.`}
      {feedback.comment && <p>{say("quoted", { text: feedback.comment })}</p>}
    </Note>
  );
}
