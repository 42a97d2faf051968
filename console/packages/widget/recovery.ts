/* What is done after a connection broke: ask until the service answers, and see what became of the reply. */

import { ChatError, isAbortError } from "./chat_error";
import type { ChatService, Question, ReplyEnd, StoredMessage } from "./chat_types";
import { waitMilliseconds, waitWhileHidden } from "./pauses";

type Report = (isReached: boolean) => void;
type Reachable = Pick<ChatService, "isReachable">;
type Readable = Pick<ChatService, "loadMessages">;

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30000;
const MAX_TRIES = 3;
/** The service gives up a reply that nobody hears within a few seconds; after these looks it has none. */
const MAX_LOOKS = 8;

/** Wait until the service answers at all; `report` hears at each try whether it does. */
export async function waitUntilServiceReachable(conversation: Reachable, signal: AbortSignal, report: Report) {
  for (let failed = 0; !(await (conversation.isReachable?.(signal) ?? true)); failed += 1) {
    report(false);
    // Not all pages of a site at the same moment.
    await waitMilliseconds(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failed) * (0.8 + 0.4 * Math.random()), signal);
    await waitWhileHidden(signal);
  }
  report(true);
}

/** The messages as soon as the service gives them. */
async function readMessagesWhenBack(conversation: Reachable & Readable, signal: AbortSignal, report: Report) {
  for (let tries = 1; ; tries += 1) {
    await waitUntilServiceReachable(conversation, signal, report);
    try {
      return await conversation.loadMessages(signal);
    } catch (error) {
      const isFinal = error instanceof ChatError && !error.mayRetry;
      if (isAbortError(error) || isFinal || tries >= MAX_TRIES) throw error;
      await waitMilliseconds(FIRST_PAUSE_MS, signal);
    }
  }
}

/** The reply as the service has stored it; one that it does not have was cut off. */
export async function recoverBrokenReply(
  conversation: Reachable & Readable,
  messageId: string,
  signal: AbortSignal,
  report: Report,
): Promise<StoredMessage> {
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const messages = await readMessagesWhenBack(conversation, signal, report);
    const reply = messages.find((one) => one.id === messageId);
    if (reply) return reply;
    const last = messages.at(-1);
    if (last?.role === "user" && last.has_failed) break;
    await waitMilliseconds(FIRST_PAUSE_MS, signal);
  }
  throw new ChatError("cutOff");
}

/**
 * Why a message got no answer, as it is told after a reload as well: of half a reply, that it was cut off. The service
 * may have kept a message that it could not answer; it stays in the conversation then.
 */
export async function explainStoredFailure(
  error: unknown,
  question: Pick<Question, "text">,
  receivedText: string,
  conversation: Readable,
  signal?: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof ChatError)) return error;
  if (error.wasBegun && receivedText) return new ChatError("cutOff");
  if (error.wasBegun) return error.message === "cutOff" ? new ChatError("unanswered", { wasBegun: true }) : error;
  if (!error.isRefusal) return error;
  const last = (await conversation.loadMessages(signal).catch(() => [])).at(-1);
  const isKept = last?.role === "user" && last.has_failed && last.content === question.text;
  return isKept ? new ChatError(error.message === "failed" ? "unanswered" : error.message, { wasBegun: true }) : error;
}

/** Whether this question of a visitor is shown by another one: the service was asked twice, the visitor asked once. */
export function isRepeatedQuestion(messages: StoredMessage[], at: number): boolean {
  const [previous, message, next] = [messages[at - 1], messages[at], messages[at + 1]];
  const isAskedAgain = message?.has_failed && next?.role === "user" && next.content === message.content;
  const isOfCutReply =
    previous?.role === "assistant" && previous.has_failed && messages[at - 2]?.content === message?.content;
  return Boolean(isAskedAgain || isOfCutReply);
}

export type EndedReply = ReplyEnd & { failure?: unknown };

/** A reply that the service has stored after its stream broke, as the end of a stream. */
export function endStoredReply(reply: StoredMessage, receivedText: string): { text: string; ended: EndedReply } {
  if (reply.has_failed) return { text: reply.content || receivedText, ended: { failure: new ChatError("cutOff") } };
  const finish = reply.is_waiting ? "awaiting_approval" : "stop";
  return { text: reply.content, ended: { message_id: reply.id, finish_reason: finish, sources: reply.sources } };
}
