import { useCallback, useEffect, useRef, useState } from "react";
import { createTranslator } from "../i18n/words";
import { type Attached, type AttachedUpload, markRefusedUploads, restoreUpload, useAttachments } from "./attachments";
import type { TurnError } from "./chat";
import { keepUnsentMessage, prependQuestion, type Refused, readUnsentMessage, type Unsent } from "./unsent";
import en from "./words.en.json";

const say = createTranslator(en, "shared/chat");

export type ComposerState = ReturnType<typeof useComposer>;

/** What is being written at a place: kept over a reload, and put back if a question gets no answer. */
export function useComposer(place: string) {
  const [kept] = useState(() => readUnsentMessage(place));
  const [text, setText] = useState(kept.text);
  const [asked, setAsked] = useState<Unsent["asked"]>();
  const [refused, setRefused] = useState<Refused | undefined>(kept.refused);
  const files = useAttachments(kept);
  const taken = useRef<AttachedUpload[]>([]);
  const { stored, unstored, putBack: putFilesBack, forget: forgetFiles } = files;
  const keptNow = JSON.stringify({ text, files: stored, cutFiles: unstored, asked, refused } satisfies Unsent);
  useEffect(() => keepUnsentMessage(place, JSON.parse(keptNow) as Unsent), [place, keptNow]);

  /** Note a question that is sent now: until the server has it, only this page knows it. */
  const noteQuestion = (question: string, attachments: Attached[] = []) => {
    taken.current = [];
    setRefused(undefined);
    setAsked({ text: question, files: attachments });
  };
  /** What is to be sent; the field is empty then. */
  const takeMessage = () => {
    const message = { text: text.trim() || say("seeFiles"), files: stored };
    noteQuestion(text.trim(), stored);
    taken.current = files.uploads;
    setText("");
    files.clear();
    return message;
  };
  /** The server has the question, or nobody asks it any more. */
  const forgetQuestion = useCallback(() => {
    setAsked(undefined);
    setRefused(undefined);
  }, []);
  /** Remember why the server does not have a question, for after a reload. */
  const refuse = useCallback(
    (question: string, attachments: Attached[] = [], error: TurnError) => setRefused({ question, attachments, error }),
    [],
  );
  /** Give back a question that got no answer; what was typed since then stays as well. */
  const putBack = useCallback(
    (question: string, attachments: Attached[] = [], details?: Record<string, unknown>) => {
      setAsked(undefined);
      setText((now) => prependQuestion(question === say("seeFiles") ? "" : question, now));
      const sent = taken.current.flatMap((one) => one.stored?.file_id ?? []);
      const isSame = sent.length === attachments.length && attachments.every(({ file_id: id }) => sent.includes(id));
      putFilesBack(markRefusedUploads(isSame ? taken.current : attachments.map(restoreUpload), details));
      taken.current = [];
    },
    [putFilesBack],
  );
  /** A question that was put back after a reload turns out to be answered. */
  const forget = useCallback(
    (question: string, attachments: Attached[]) => {
      setText((now) => (now === question ? "" : now));
      setRefused((now) => (now?.question === question ? undefined : now));
      forgetFiles(attachments.map(({ file_id: id }) => id));
    },
    [forgetFiles],
  );
  const isReady = Boolean(text.trim() || stored.length) && !files.isUploading;
  return {
    text,
    setText,
    files,
    isReady,
    ask: noteQuestion,
    take: takeMessage,
    settle: forgetQuestion,
    putBack,
    forget,
    refuse,
    refused: kept.refused,
  };
}
