import Pencil from "icon:pencil";
import { lazy, memo, Suspense } from "react";
import { AttachedFiles } from "../../../shared/chat/attached_files";
import type { Turn } from "../../../shared/chat/chat";
import { createTranslator } from "../../../shared/i18n/words";
import style from "./message.module.css";
import { CopyAction, MessageAction } from "./message_action";
import { VersionSwitch } from "./version_switch";
import en from "./words.en.json";

const QuestionEditor = lazy(() => import("./question_editor").then((found) => ({ default: found.QuestionEditor })));
const say = createTranslator(en, "features/chat/thread");

type Props = {
  turn: Turn;
  isEdited: boolean;
  /** Undefined where one only reads. */
  onEdit?: (turn: Turn | undefined) => void;
  onSend: (turn: Turn, question: string) => void;
  /** Undefined while no other version can be opened. */
  onVersion?: (leaf: string) => void;
};

/** What somebody asked, with its files; it can be asked in other words. */
export const ThreadQuestion = memo(function Question({ turn, isEdited, onEdit, onSend, onVersion }: Props) {
  const { question, attachments = [], questionVersions } = turn;
  if (isEdited && onEdit)
    return (
      <Suspense fallback={null}>
        <QuestionEditor
          question={question}
          version={questionVersions?.at ?? 1}
          onCancel={() => onEdit(undefined)}
          onSend={(text) => onSend(turn, text)}
        />
      </Suspense>
    );
  if (!question && !attachments.length) return null;
  return (
    <article className={style.question} aria-label={say("you")}>
      {attachments.length > 0 && (
        <div className={style.sent}>
          <AttachedFiles files={attachments} />
        </div>
      )}
      {question && <div className={style.bubble}>{question}</div>}
      <div className={style.under} data-quiet={(questionVersions?.of ?? 1) < 2 || undefined}>
        <CopyAction label={say("copyQuestion")} text={question} />
        {onEdit && turn.questionId && !turn.isLive && (
          <MessageAction label={say("edit")} onClick={() => onEdit(turn)}>
            <Pencil size={14} />
          </MessageAction>
        )}
        {!turn.isLive && <VersionSwitch versions={questionVersions} onOpen={onVersion} />}
      </div>
    </article>
  );
});
