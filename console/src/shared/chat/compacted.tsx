import type { components } from "../../api/schema";
import { createTranslator } from "../i18n/words";
import style from "./chat.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/chat");
const SUMMARY_TIER = 3;

type Props = {
  compaction: components["schemas"]["Compaction"];
  /** It happened before the first message that is shown. */
  isBefore?: boolean;
};

/** A quiet line where the model no longer gets the older messages as they are. */
export function CompactionNote({ compaction, isBefore = false }: Props) {
  const isSummarized = compaction.tiers.includes(SUMMARY_TIER);
  const text = isBefore
    ? say(isSummarized ? "summarizedBefore" : "leftOutBefore")
    : say(isSummarized ? "summarized" : "leftOut");
  return (
    <p className={style.compacted} title={say("compactedText")}>
      {text}
    </p>
  );
}
