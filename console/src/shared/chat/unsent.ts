import { useEffect, useState } from "react";
import type { Attached } from "./attachments";
import type { TurnError } from "./chat";

/** A question that the server does not have, and why. */
export type Refused = { question: string; attachments: Attached[]; error: TurnError };

/** What somebody has written and nobody has answered, kept for this tab so that a reload loses nothing. */
export type Unsent = {
  text: string;
  /** Files that the server has. */
  files: Attached[];
  /** Names of files that were still being uploaded: a page cannot keep their content. */
  cutFiles: string[];
  /** A question on its way of which the server has not said yet that it has it. */
  asked?: { text: string; files: Attached[] };
  /** The last question, if it was refused. */
  refused?: Refused;
};

const NONE: Unsent = { text: "", files: [], cutFiles: [] };
const storageKeyOf = (place: string) => `retinue.unsent.${place}`;

/** What a place has kept; a question that was on its way is put back. */
export function readUnsentMessage(place: string): Unsent {
  try {
    const found = JSON.parse(sessionStorage.getItem(storageKeyOf(place)) ?? "null") as Unsent | null;
    if (!found) return NONE;
    const { text = "", files = [], cutFiles = [], asked, refused } = found;
    if (!asked) return { text, files, cutFiles, ...(refused ? { refused } : {}) };
    return { text: prependQuestion(asked.text, text), files: mergeAttachments(asked.files, files), cutFiles };
  } catch {
    return NONE;
  }
}

export function keepUnsentMessage(place: string, unsent: Unsent) {
  const isEmpty = !(unsent.text || unsent.files.length || unsent.cutFiles.length || unsent.asked || unsent.refused);
  try {
    if (isEmpty) sessionStorage.removeItem(storageKeyOf(place));
    else sessionStorage.setItem(storageKeyOf(place), JSON.stringify(unsent));
  } catch {
    // A full or forbidden store only costs what a reload would lose.
  }
}

/** A question in front of what was written since; once is enough. */
export function prependQuestion(question: string, text: string): string {
  if (!question || text === question || text.startsWith(`${question}\n`)) return text;
  return [question, text].filter(Boolean).join("\n");
}

/** Files in front of others, each once. */
export const mergeAttachments = (files: Attached[], others: Attached[]): Attached[] => [
  ...files,
  ...others.filter(({ file_id: id }) => !files.some((one) => one.file_id === id)),
];

/** A text that is being written at a place and survives a reload, as does a question on its way. */
export function useKeptText(place: string) {
  const [text, setText] = useState(() => readUnsentMessage(place).text);
  const [asked, setAsked] = useState("");
  useEffect(
    () => keepUnsentMessage(place, { ...NONE, text, ...(asked ? { asked: { text: asked, files: [] } } : {}) }),
    [place, text, asked],
  );
  /** The question is over: answered, or put back. */
  const settleQuestion = (question: string, isAnswered: boolean) => {
    // Another one may be on its way by now.
    setAsked((now) => (now === question ? "" : now));
    if (!isAnswered) setText((now) => prependQuestion(question, now));
  };
  const noteQuestion = (question: string) => {
    setAsked(question);
    setText((now) => (now.trim() === question ? "" : now));
  };
  return { text, setText, ask: noteQuestion, settle: settleQuestion };
}
