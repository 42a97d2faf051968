import type { components } from "../../api/schema";
import type { ServerEvent } from "../../api/stream";
import type { AskOptions } from "./chat";
import { ChatSession, type ChatSessionOptions } from "./chat_session";
import type { StoredChat } from "./stored_chat";

export type ServerMessage = components["schemas"]["MessageOut"];
export const createStoredMessage = (id: string, role: string, content: string) =>
  ({ id, role, content, created_at: "", attachments: [] }) as unknown as ServerMessage;

export const createChatEvent = (name: string, data: unknown): ServerEvent => ({ event: name, data, id: name });
export const START_EVENT = createChatEvent("message_start", { conversation_id: "con_1", message_id: "msg_4" });
export const createTextEvent = (delta: string) => createChatEvent("content_delta", { delta });
export const END_EVENT = createChatEvent("message_stop", { finish_reason: "stop" });
export const ANSWER_EVENTS = [START_EVENT, createTextEvent("Two."), END_EVENT];
/** Waits longer than a frame, in which events are collected. */
export const afterFrame = () => new Promise((done) => setTimeout(done, 50));

/** An event, an error that the stream ends with, or a promise that holds back what follows. */
type Step = ServerEvent | Error | Promise<void>;
async function* playSteps(steps: Step[], signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const aborted = new Promise<void>((done) => signal.addEventListener("abort", () => done()));
  for (const step of steps) {
    if (step instanceof Promise) await Promise.race([step, aborted]);
    if (signal.aborted) throw new DOMException("Aborted", "AbortError");
    if (step instanceof Error) throw step;
    if (!(step instanceof Promise)) yield step;
  }
}

/** A server whose answers a test writes down, and a tab that keeps the conversation. */
export class FakeChatServer {
  asked: { question: string; conversationId: string; options: AskOptions }[] = [];
  resumed: { messageId: string; afterEvent: string }[] = [];
  stopped: string[] = [];
  rated: unknown[][] = [];
  stored: StoredChat | undefined;
  scheduled: { run: () => void; ms: number }[] = [];
  answer: Step[] = ANSWER_EVENTS;
  rest: Step[] = ANSWER_EVENTS;
  stopAnswer: () => Promise<unknown> = async () => undefined;
  rateAnswer: () => Promise<unknown> = async () => undefined;
  /** Answers each reading of the history; by default it stays away. */
  readMessages: (leaf?: string) => Promise<ServerMessage[]> = () => new Promise(() => undefined);
  suspectCount = 0;

  openSession(options: Partial<ChatSessionOptions> = {}) {
    const session = new ChatSession({ ...this.createOptions(), ...options });
    return { session, leave: session.subscribe(() => undefined) };
  }

  /** What a session needs of its surroundings, played by this server. */
  createOptions(): ChatSessionOptions {
    return {
      api: {
        ask: (question, conversationId, signal, asked) => {
          this.asked.push({ question, conversationId, options: asked });
          return playSteps(this.answer, signal);
        },
        resume: (messageId, afterEvent, signal) => {
          this.resumed.push({ messageId, afterEvent });
          return playSteps(this.rest, signal);
        },
        stop: (messageId) => {
          this.stopped.push(messageId);
          return this.stopAnswer();
        },
        rate: (...signal) => {
          this.rated.push(signal);
          return this.rateAnswer();
        },
        readMessages: (_, leaf) => this.readMessages(leaf),
      },
      connection: { suspect: () => (this.suspectCount += 1), whenBack: async () => undefined },
      storage: {
        read: () => this.stored,
        write: (chat) => {
          this.stored = chat;
        },
      },
      schedule: (run, ms) => {
        this.scheduled.push({ run, ms });
        return () => undefined;
      },
    };
  }
}

export const listTurnTexts = (session: ChatSession) =>
  session.getSnapshot().turns.map(({ question, text }) => [question, text]);
export const listTurnErrors = (session: ChatSession) =>
  session.getSnapshot().turns.map(({ question, error }) => [question, error?.code]);
export const lastTurnOf = (session: ChatSession) => session.getSnapshot().turns.at(-1);
