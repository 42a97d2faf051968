/* What a visitor has written and nobody has answered: kept for the tab, so that a reload loses nothing. */

import { parseJson } from "@retinue/elements";
import { ChatError } from "./chat_error";
import type { ChatService, Question, SentFile, StoredFile, StoredMessage } from "./chat_types";

/** A question that failed, to be told once more after a reload. */
export type FailedQuestion = Pick<Question, "text" | "typed"> & {
  files: StoredFile[];
  isPutBack: boolean;
  message: string;
  mayRetry: boolean;
};

/** The text and the files that are not sent, a question that the service has not confirmed, and the one that failed. */
export type UnsentState = { text: string; files: SentFile[]; asked: Question | null; failed: FailedQuestion | null };

export class UnsentMessage {
  constructor(private readonly conversation: ChatService) {}

  private get storageKey() {
    return `${this.conversation.storageName}:${this.conversation.sessionId}:unsent`;
  }

  read(): UnsentState {
    const none = { text: "", files: [], asked: null, failed: null };
    try {
      return { ...none, ...parseJson<UnsentState>(sessionStorage.getItem(this.storageKey)) };
    } catch {
      return none;
    }
  }

  write(part: Partial<UnsentState>) {
    const { text, files, asked, failed } = { ...this.read(), ...part };
    const questionToKeep = <Of extends Question>(one: Of | null) =>
      one && { ...one, bubble: undefined, files: keepFileNames(one.files) };
    const kept = { text, files: keepFileNames(files), asked: questionToKeep(asked), failed: questionToKeep(failed) };
    try {
      if (text || files.length || asked || failed) sessionStorage.setItem(this.storageKey, JSON.stringify(kept));
      else sessionStorage.removeItem(this.storageKey);
    } catch {
      // Without storage, a reload begins with an empty field.
    }
  }
}

/** Of files only what the service knows of them can be kept. */
const keepFileNames = (files: StoredFile[]) => files.map(({ file_id, filename }) => ({ file_id, filename }));

/** A question in front of what was written since; once is enough. */
export function putQuestionBefore(question: string, text: string): string {
  if (!question || text === question || text.startsWith(`${question}\n`)) return text;
  return [question, text].filter(Boolean).join("\n");
}

export function failQuestion({ text, typed, files }: Question, failure: unknown): FailedQuestion {
  const { message, mayRetry, wasBegun } = failure instanceof ChatError ? failure : new ChatError("failed");
  // How long to wait is over by then.
  const shownMessage = message === "tooManyFor" ? "tooMany" : message;
  return { text, typed, files, isPutBack: !wasBegun, message: shownMessage, mayRetry };
}

export const restoreChatError = ({ message, mayRetry, isPutBack }: FailedQuestion) =>
  new ChatError(message, { mayRetry, wasBegun: !isPutBack });

/**
 * What was kept, after a look at what the service has: a question stands in the conversation or in the field, never in
 * both, and why it failed is told once.
 */
export function reconcileUnsent({ text, files, asked, failed }: UnsentState, messages: StoredMessage[]): UnsentState {
  const last = messages.at(-1);
  const isLastQuestion = (question: string) => last?.role === "user" && last.content === question;
  const isStored = Boolean(text) && isLastQuestion(text);
  const stored = new Set(isStored ? last?.attachments?.map((file) => file.file_id) : []);
  const lastQuestion = messages.findLast(({ role }) => role === "user")?.content;
  const missing = asked && asked.text !== lastQuestion ? asked : null;
  const now = {
    text: isStored ? "" : text,
    files: files.filter((file) => !stored.has(file.file_id)),
    asked: missing,
  };
  const isTold = failed && isLastQuestion(failed.text) && last?.has_failed;
  const isInField = Boolean(now.text || now.files.length);
  if (failed && !isTold && isLastQuestion(failed.text)) return { ...now, failed: { ...failed, isPutBack: false } };
  if (failed?.isPutBack && !isTold && isInField) return { ...now, failed };
  return { ...now, failed: missing ? failQuestion(missing, new ChatError("unanswered")) : null };
}
