import { ApiError, asApiError } from "../../api/errors";
import type { components } from "../../api/schema";
import type { ServerEvent } from "../../api/stream";
import type { Schedule } from "../schedule";
import { Store } from "../store";
import type { Attached } from "./attachments";
import {
  type AskOptions,
  createTurn,
  dropRepeatedTurns,
  type Feedback,
  findLiveTurn,
  isReplacedByQuestion,
  isWaitingTurn,
  mergeHistory,
  type Turn,
  type TurnError,
  toTurnError,
  turnsFromMessages,
} from "./chat";
import { followReply, type OpenReply } from "./follow_reply";
import { type Connection, readWhenBack } from "./read_when_back";
import type { StoredChat } from "./stored_chat";
import type { Refused } from "./unsent";

const STOP_MS = 3000;
const GONE = [403, 404];

/** The agent on the server. */
export type ChatApi = {
  ask: (
    question: string,
    conversationId: string,
    signal: AbortSignal,
    options: AskOptions,
  ) => AsyncGenerator<ServerEvent>;
  /** Continue a reply after one of its events. */
  resume: (messageId: string, afterEvent: string, signal: AbortSignal) => AsyncGenerator<ServerEvent>;
  stop: (messageId: string) => Promise<unknown>;
  rate: (messageId: string, feedback: Feedback) => Promise<unknown>;
  /** The newest messages of the path that ends at `leaf`, or at the newest message of all. */
  readMessages: (conversationId: string, leaf?: string) => Promise<components["schemas"]["MessageOut"][]>;
};

export type ChatSessionOptions = {
  api: ChatApi;
  connection: Connection;
  /** What this tab keeps of the conversation over a reload; writing nothing forgets it. */
  storage: { read: () => StoredChat | undefined; write: (chat?: StoredChat) => void };
  schedule: Schedule;
  /** A conversation that this one continues. */
  from?: string;
  /** The last question before a reload, if the server refused it. */
  refused?: Refused;
  /** Hears that the server has the question that was sent last. */
  onKept?: () => void;
  /** Hears of a question that got no whole answer, to be put back. */
  onUnanswered?: (turn: Turn, error: TurnError) => void;
  /** Hears after a reload which question was answered last, and its files. */
  onAnswered?: (question: string, attachments: Attached[]) => void;
};

export type SendOptions = {
  attachments?: Attached[];
  /** What answers. */
  options?: AskOptions;
  /** Runs before the question is sent; if it fails, so does the question. */
  beforeSend?: () => Promise<void>;
};

export type ChatState = {
  turns: Turn[];
  /** Why the conversation could not be read, and the way to read it once more. */
  failedLoad?: { error: unknown; retry: () => void };
};

/** A question of before a reload that the server does not have. */
const createRefusedTurn = ({ question, attachments, error }: Refused): Turn => ({
  ...createTurn(question, attachments),
  startedMs: undefined,
  isLive: false,
  isRefused: true,
  error,
});

/** A conversation with an agent. It survives a reload and a server that goes away, and continues after an approval. */
export class ChatSession extends Store<ChatState> {
  readonly #options: ChatSessionOptions;
  protected conversationId = "";
  #from: string | undefined;
  /** The replies that are being read, by turn. */
  readonly #streams = new Map<string, AbortController>();
  #visit = new AbortController();

  constructor(options: ChatSessionOptions) {
    super({ turns: options.refused ? [createRefusedTurn(options.refused)] : [] });
    this.#options = options;
    this.#from = options.from;
  }

  /** Ask; a question that gets no answer is handed to `onUnanswered`. */
  async send(question: string, { attachments = [], options, beforeSend }: SendOptions = {}) {
    const turn = createTurn(question, attachments);
    this.setTurns((turns) => [...turns.filter((one) => !isReplacedByQuestion(question, one)), turn]);
    try {
      await beforeSend?.();
    } catch (error) {
      this.change(turn.id, (one) => ({ ...one, isLive: false }));
      return this.fail(turn, error, true);
    }
    const seed = !this.conversationId && this.#from ? { from_conversation_id: this.#from } : {};
    const files = attachments.length ? { attachments: attachments.map(({ file_id }) => ({ file_id })) } : {};
    await this.follow(turn, (signal) =>
      this.#options.api.ask(question, this.conversationId, signal, { ...options, ...seed, ...files }),
    );
  }

  /** Stop the reply that is being written; one that the server has not begun is no longer waited for. */
  stop() {
    const live = findLiveTurn(this.getSnapshot().turns);
    if (!live?.messageId) return this.#abortStreams();
    const streams = [...this.#streams.values()];
    // A reply that does not end by itself belongs to a server that is gone: it is no longer waited for.
    const abortLater = () =>
      this.#options.schedule(() => {
        for (const stream of streams) stream.abort();
      }, STOP_MS);
    void this.#options.api
      .stop(live.messageId)
      .catch(() => undefined)
      .then(abortLater);
  }

  /** Begin a new conversation. */
  reset() {
    this.#abortStreams();
    this.conversationId = "";
    this.#from = undefined;
    this.#options.storage.write();
    this.update({ turns: [], failedLoad: undefined });
  }

  readonly rate = async (turn: Turn, feedback: Feedback) => {
    this.change(turn.id, (one) => ({ ...one, feedback }));
    try {
      await this.#options.api.rate(turn.messageId, feedback);
    } catch (error) {
      if (error instanceof ApiError) this.change(turn.id, (one) => ({ ...one, feedback: turn.feedback }));
    }
  };

  protected override activate() {
    this.#visit = new AbortController();
    void this.#restore(this.#visit.signal);
  }

  protected override deactivate() {
    this.#visit.abort();
    this.#abortStreams();
  }

  /** Show the conversation of before a reload, and continue the reply that was being written. */
  async #restore(signal: AbortSignal) {
    const stored = this.#from ? undefined : this.#options.storage.read();
    const conversationId = stored?.conversationId ?? this.#from;
    if (!conversationId) return;
    // A question that is asked before the history has loaded continues the conversation.
    if (stored) this.conversationId = conversationId;
    // First the reply that is being written, since the server gives it up when nobody listens.
    const resumed = stored?.messageId ? this.#resume(stored, stored.messageId) : undefined;
    /** Whether this is still the conversation: the person may have begun a new one while it was being read. */
    const isCurrentRestore = () => (stored ? this.conversationId : this.#from) === conversationId;
    const { api, connection } = this.#options;
    const readHistory = async (): Promise<void> => {
      try {
        const messages = await readWhenBack(() => api.readMessages(conversationId), connection, signal);
        if (signal.aborted || !isCurrentRestore()) return;
        const history = dropRepeatedTurns(turnsFromMessages(messages)).map((turn) => ({ ...turn, askedAt: undefined }));
        this.#showHistory(history, resumed);
      } catch (error) {
        if (signal.aborted || !isCurrentRestore()) return;
        // Only a conversation that is no longer there is forgotten.
        if (!resumed && stored && GONE.includes(asApiError(error).status)) this.#forgetConversation();
        const retryLoad = () => {
          this.update({ failedLoad: undefined });
          void readHistory();
        };
        this.update({ failedLoad: { error, retry: retryLoad } });
      }
    };
    await readHistory();
  }

  /** The next question begins a conversation of its own. */
  #forgetConversation() {
    this.conversationId = "";
    this.#options.storage.write();
  }

  /** Continue a reply that a reload cut, beside a question that was refused. */
  #resume({ question = "", attachments, text = "" }: StoredChat, messageId: string): Turn {
    const turn = { ...createTurn(question, attachments), text, messageId, startedMs: undefined };
    this.setTurns((turns) => [turn, ...turns.filter(({ isRefused }) => isRefused)]);
    void this.follow(turn, (signal) => this.#options.api.resume(messageId, "0", signal));
    return turn;
  }

  #showHistory(history: Turn[], resumed?: Turn) {
    // A reply that has ended by now is whole in the history.
    const isStored = history.some((turn) => turn.messageId === resumed?.messageId && !isWaitingTurn(turn));
    const ended = isStored ? resumed : undefined;
    if (ended) {
      this.#streams.get(ended.id)?.abort();
      // A question that was asked since then has noted its own reply.
      const isAlone = [...this.#streams.keys()].every((id) => id === ended.id);
      if (isAlone) this.#options.storage.write({ conversationId: this.conversationId });
    }
    this.setTurns((turns) => mergeHistory(history, turns, ended));
    const last = history.at(-1);
    if (last?.text && !last.error) this.#options.onAnswered?.(last.question, last.attachments ?? []);
  }

  /** Show a reply to its end. */
  protected async follow(turn: Turn, open: OpenReply) {
    const { api, connection, onKept, onUnanswered } = this.#options;
    const { signal } = this.track(turn);
    let now = turn;
    try {
      now = await followReply({
        turn,
        open,
        signal,
        resume: api.resume,
        connection,
        onStart: (conversationId, messageId) => {
          this.conversationId = conversationId;
          onKept?.();
          this.#storeReply({ ...turn, messageId, text: "" });
        },
        onChange: (state) => {
          if (state.isLost && !now.isLost) this.#storeReply(state);
          now = state;
          this.change(turn.id, (before) => ({ ...state, feedback: before.feedback }));
        },
      });
      if (signal.aborted) return;
      this.#options.storage.write({ conversationId: this.conversationId });
      if (now.error) onUnanswered?.(now, now.error);
    } catch (error) {
      if (signal.aborted) return;
      // What has come of a reply that the server has not is kept here.
      if (now.messageId) this.#storeReply(now);
      this.fail(now, error, !now.messageId);
    } finally {
      this.untrack(turn);
      this.change(turn.id, (one) => ({ ...one, isLive: false, isLost: false }));
    }
  }

  /** Say why a turn failed. If the server kept nothing of it, it goes with the next question. */
  protected fail(turn: Turn, error: unknown, isRefused: boolean) {
    const turnError = toTurnError(asApiError(error));
    // A provider may fail after the question was stored: the error says where, and the next question goes on there.
    const keptIn = turnError.details?.conversation_id;
    const isKept = typeof keptIn === "string";
    if (isKept) this.conversationId = keptIn;
    else if (turnError.code === "conversation_not_found") this.#forgetConversation();
    if (isKept && !turn.messageId) this.#options.storage.write({ conversationId: keptIn });
    this.change(turn.id, (one) => ({ ...one, stop: undefined, error: turnError, isRefused: isRefused && !isKept }));
    this.#options.onUnanswered?.(turn, turnError);
  }

  /** Remember a reply that is being written, for after a reload. */
  #storeReply({ messageId, question, attachments, text }: Turn) {
    this.#options.storage.write({ conversationId: this.conversationId, messageId, question, attachments, text });
  }

  /** Note that a turn is being answered; what stops the reply aborts it. */
  protected track(turn: Turn): AbortController {
    const stream = new AbortController();
    this.#streams.set(turn.id, stream);
    return stream;
  }

  protected untrack(turn: Turn) {
    this.#streams.delete(turn.id);
  }

  #abortStreams() {
    for (const stream of this.#streams.values()) stream.abort();
  }

  protected change(id: string, next: (turn: Turn) => Turn) {
    this.setTurns((turns) => turns.map((turn) => (turn.id === id ? next(turn) : turn)));
  }

  protected setTurns(next: (turns: Turn[]) => Turn[]) {
    this.update({ turns: next(this.getSnapshot().turns) });
  }
}
