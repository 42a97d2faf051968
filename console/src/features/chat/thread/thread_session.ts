import { asApiError } from "../../../api/errors";
import type { components } from "../../../api/schema";
import type { Attached } from "../../../shared/chat/attachments";
import {
  type AskOptions,
  createTurn,
  dropRepeatedTurns,
  findLiveTurn,
  type Turn,
  turnsFromMessages,
} from "../../../shared/chat/chat";
import { ChatSession, type ChatSessionOptions } from "../../../shared/chat/chat_session";
import type { OpenReply } from "../../../shared/chat/follow_reply";
import { mergeStoredTurns } from "./stored_turns";

export type AudioReply = components["schemas"]["AudioReply"];
export type ThreadSessionOptions = ChatSessionOptions & {
  /** Sends a recording as the next message. */
  speak: (recording: Blob, conversationId: string, signal: AbortSignal) => Promise<AudioReply>;
  /** Hears of a question that was stopped before the server had it, to be put back. */
  onGivenUp?: (turn: Turn) => void;
  /** Hears that a reply is at its end and that the server has it. */
  onReplied?: (conversationId: string) => void;
};
const PROVIDER_FAILED = 500;

/** The sessions that a page shows, or that still read a reply. */
const active = new Set<ThreadSession>();

/** The last message of a conversation as a page shows it now: that of the version that is open. */
export const findShownEnd = (conversationId: string): string | undefined =>
  [...active].findLast(({ id }) => id === conversationId)?.lastMessageId;

type Asked = { options: AskOptions; recording?: Blob };

/** A conversation with versions: questions are edited, replies written again, and older branches opened. */
export class ThreadSession extends ChatSession {
  readonly #options: ThreadSessionOptions;
  /** How each turn of this page was asked, to ask it once more. */
  readonly #asked = new Map<string, Asked>();
  /** The last message of an older branch that is shown. */
  #olderEnd: string | undefined;
  /** The last reply of the newest branch, while another one is shown. */
  #newestEnd: string | undefined;
  /** How often a branch was asked for; what was read for an earlier request is not shown. */
  #branchRequests = 0;

  constructor(options: ThreadSessionOptions) {
    super(options);
    this.#options = options;
  }

  /** The conversation, once the server has one. */
  get id(): string {
    return this.conversationId;
  }

  /** Whether the text of a turn that failed goes back to the field: the conversation does not hold it. */
  isPutBack({ id }: Turn): boolean {
    const { options, recording } = this.#asked.get(id) ?? { options: {} };
    const isRefused = this.#turns.find((turn) => turn.id === id)?.isRefused ?? false;
    return isRefused && !(options.edit_of || options.regenerate_of || recording);
  }

  /** Whether an older branch is shown: only a written question can follow it. */
  get isOlderBranch(): boolean {
    return this.#olderEnd !== undefined;
  }

  /** Whether only this page has a recording, as sending it failed. */
  get hasUnsentRecording(): boolean {
    return this.#turns.some(({ id, error }) => error && this.#asked.get(id)?.recording);
  }

  get lastMessageId(): string | undefined {
    return this.#turns.findLast((turn) => turn.messageId)?.messageId;
  }

  /** Ask the next question, in the branch that is shown. */
  ask(question: string, attachments: Attached[] = []): Promise<void> {
    const parent = this.#olderEnd && this.lastMessageId;
    return this.#sendTurn(createTurn(question, attachments), this.#turns, {
      options: parent ? { parent_id: parent } : {},
    });
  }

  /** Ask a question in other words; the old one and what followed it stay as another version. */
  edit(turn: Turn, question: string): Promise<void> {
    const next = { ...createTurn(question, turn.attachments), questionVersions: addVersion(turn.questionVersions) };
    return this.#sendTurn(next, this.#turnsBefore(turn), { options: { edit_of: turn.questionId } });
  }

  /** Have a reply written once more; the old one stays as another version. */
  writeAgain(turn: Turn): Promise<void> {
    const { question, questionId, questionVersions, parentId } = turn;
    const versions = turn.messageId ? addVersion(turn.replyVersions) : turn.replyVersions;
    const next = { ...createTurn(question, turn.attachments), questionId, questionVersions, parentId };
    const options = { regenerate_of: turn.messageId || questionId };
    return this.#sendTurn({ ...next, replyVersions: versions }, this.#turnsBefore(turn), { options });
  }

  /** Ask once more for an answer that did not come. */
  retry(turn: Turn): Promise<void> {
    if (!turn.isRefused && (turn.messageId || turn.questionId)) return this.writeAgain(turn);
    const next = { ...createTurn(turn.question, turn.attachments), questionVersions: turn.questionVersions };
    return this.#sendTurn(next, this.#turnsBefore(turn), this.#asked.get(turn.id) ?? { options: {} });
  }

  /** Send a recording. Its words and the reply come together. */
  speak(recording: Blob): Promise<void> {
    return this.#sendTurn(createTurn(""), this.#turns, { options: {}, recording });
  }

  /** Show another version: the branch that ends at a message. */
  openVersion(leaf: string): Promise<void> {
    return this.#readBranch(leaf);
  }

  /** Read the messages before those that are shown. */
  async readEarlier() {
    const before = this.#turns[0]?.parentId;
    if (!before) return;
    const messages = await this.#options.api.readMessages(this.conversationId, before);
    // Asked for twice, or of a branch that is no longer shown, they do not belong here.
    if (this.#turns[0]?.parentId === before) this.setTurns((turns) => [...turnsFromMessages(messages), ...turns]);
  }

  /** Show what the server has; a question that it refused is gone then. */
  async refresh() {
    if (this.conversationId) return this.#readBranch(this.#olderEnd);
    this.setTurns((turns) => turns.filter((turn) => !turn.isRefused));
  }

  get #turns(): Turn[] {
    return this.getSnapshot().turns;
  }

  #turnsBefore({ id }: Turn): Turn[] {
    const turns = this.#turns;
    return turns.slice(
      0,
      turns.findIndex((turn) => turn.id === id),
    );
  }

  /** Show a turn after others, send it, and read what became of it. */
  async #sendTurn(turn: Turn, before: Turn[], asked: Asked) {
    const { options, recording } = asked;
    this.#asked.set(turn.id, asked);
    // A question follows what is shown, not a branch that is still being read.
    this.#branchRequests += 1;
    this.setTurns(() => [...before.filter((one) => !one.isRefused), turn]);
    const attachments = options.regenerate_of ? [] : (turn.attachments ?? []);
    if (recording) await this.#followRecording(turn, recording);
    else
      await this.follow(turn, (signal) =>
        this.#options.api.ask(turn.question || "…", this.conversationId, signal, {
          ...options,
          ...(attachments.length ? { attachments: attachments.map(({ file_id }) => ({ file_id })) } : {}),
        }),
      );
  }

  protected override activate() {
    active.add(this);
    super.activate();
  }

  protected override deactivate() {
    active.delete(this);
    super.deactivate();
  }

  protected override async follow(turn: Turn, open: OpenReply) {
    await super.follow(turn, open);
    // A page that was left has kept the question.
    if (active.has(this)) await this.#readEnded(turn.id);
  }

  /** A failure without a word of where the question is kept may come after it was stored; what is stored is read. */
  protected override fail(turn: Turn, error: unknown, isRefused: boolean) {
    const isStored = Boolean(this.conversationId) && asApiError(error).status >= PROVIDER_FAILED;
    super.fail(turn, error, isRefused && !isStored);
  }

  async #followRecording(turn: Turn, recording: Blob) {
    const control = this.track(turn);
    try {
      const reply = await this.#options.speak(recording, this.conversationId, control.signal);
      this.conversationId = reply.conversation_id;
      this.#options.storage.write({ conversationId: this.conversationId });
      this.change(turn.id, (one) => ({
        ...one,
        question: reply.transcription.text,
        messageId: reply.message.id,
        text: reply.message.content,
        stop: reply,
        isLive: false,
      }));
    } catch (error) {
      if (control.signal.aborted) return this.setTurns((turns) => turns.filter((one) => one.id !== turn.id));
      this.fail(turn, error, true);
    } finally {
      this.untrack(turn);
      this.change(turn.id, (one) => ({ ...one, isLive: false }));
    }
    await this.#readEnded(turn.id);
  }

  /** Read the versions and ids of what was written on this page. */
  async #readEnded(turnId: string) {
    const last = this.#turns.at(-1);
    // Another question may be on its way by now; it reads them itself.
    if (last?.id !== turnId || last.isRefused) return;
    const isStopped = !last.messageId && !last.error;
    if (!this.conversationId) return isStopped ? this.#giveUp(last) : undefined;
    if (!isStopped) this.#olderEnd = undefined;
    try {
      if (isStopped && this.#asked.get(turnId)?.options.regenerate_of) return await this.refresh();
      const messages = await this.#options.api.readMessages(this.conversationId);
      const stored = dropRepeatedTurns(turnsFromMessages(messages));
      if (this.#turns.at(-1)?.id !== turnId) return;
      if (isStopped && !isAskedLast(last, stored, this.#turns)) return this.#giveUp(last);
      if (isStopped) this.#options.onKept?.();
      this.#olderEnd = undefined;
      this.update({ turns: mergeStoredTurns(stored, this.#turns), failedLoad: undefined });
    } catch {
      // What was written is on the page; only its versions are not known.
    }
    this.#options.onReplied?.(this.conversationId);
  }

  /** Take away a question that the server does not have; an edit stays where it was made, to be sent or discarded. */
  #giveUp(turn: Turn) {
    if (this.#asked.get(turn.id)?.options.edit_of) return this.change(turn.id, (one) => ({ ...one, isRefused: true }));
    this.setTurns((turns) => turns.filter(({ id }) => id !== turn.id));
    this.#options.onGivenUp?.(turn);
  }

  /** Show a branch, unless another one or a question was asked for meanwhile; throws if it cannot be read. */
  async #readBranch(leaf: string | undefined) {
    this.#branchRequests += 1;
    const request = this.#branchRequests;
    const isWanted = () => request === this.#branchRequests && !findLiveTurn(this.#turns)?.isLive;
    try {
      const messages = await this.#options.api.readMessages(this.conversationId, leaf);
      if (!isWanted()) return;
      if (!this.#olderEnd) this.#newestEnd = this.lastMessageId;
      const turns = dropRepeatedTurns(turnsFromMessages(messages));
      const isNewest = turns.findLast((turn) => turn.messageId)?.messageId === this.#newestEnd;
      this.#olderEnd = isNewest ? undefined : leaf;
      this.update({ turns, failedLoad: undefined });
    } catch (error) {
      if (isWanted()) throw error;
    }
  }
}

/** Whether the server has a question of the page: it is its last one, and not one that was answered here before. */
function isAskedLast({ id, question }: Turn, stored: Turn[], shown: Turn[]): boolean {
  const last = stored.at(-1);
  const isOlder = shown.some((one) => one.id !== id && one.messageId && one.messageId === last?.messageId);
  return last?.question === question && !isOlder;
}

type Versions = Turn["questionVersions"];

/** The versions of a message once another one is being written. */
const addVersion = (versions: Versions): Versions => {
  const of = (versions?.of ?? 1) + 1;
  return { at: of, of, leaf_ids: versions?.leaf_ids ?? [] };
};
