import { createElement } from "@retinue/elements";
import { selectWidgetWords, type WidgetWords } from "@retinue/words/widget";
import { AttachmentTray } from "./attachment_tray";
import { ChatError, isAbortError } from "./chat_error";
import type { ChatService, Question, StoredMessage } from "./chat_types";
import type { Look } from "./look";
import { MessageLog } from "./message_log";
import { Panel } from "./panel";
import { type EndedReply, endStoredReply, explainStoredFailure, isRepeatedQuestion } from "./recovery";
import { ServiceReach } from "./service_reach";
import { failQuestion, putQuestionBefore, reconcileUnsent, restoreChatError, UnsentMessage } from "./unsent_message";

type Failure = Partial<Pick<ChatError, "message" | "details">>;

/** A chat in a shadow root: what is asked, what is answered, and what becomes of both. */
export class ChatWidget {
  readonly root = createElement("div", { class: "root" });
  readonly words: WidgetWords;
  readonly panel: Panel;
  private readonly isInline: boolean;
  private readonly accents = new CSSStyleSheet();
  private readonly darkness = matchMedia("(prefers-color-scheme: dark)");
  private readonly listening = new AbortController();
  readonly log: MessageLog;
  readonly tray: AttachmentTray;
  private readonly unsent: UnsentMessage;
  private kept: ReturnType<UnsentMessage["read"]>;
  private isUnsentShown = false;
  private look: Look | undefined;
  private greeting: HTMLElement | undefined;
  /** The turn that is running, and the reply that waits for a decision. */
  private sending: AbortController | null = null;
  private awaiting: AbortController | null = null;
  private readonly reach: ServiceReach;

  constructor(
    host: HTMLElement,
    shadow: ShadowRoot,
    private readonly conversation: ChatService,
    onSchemeChange: () => void,
  ) {
    this.isInline = host.hasAttribute("inline");
    this.words = selectWidgetWords(host.getAttribute("lang") ?? document.documentElement.lang);
    shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, this.accents];
    shadow.append(this.root);
    this.log = new MessageLog(this.words, (question) => this.askAgain(question));
    this.unsent = new UnsentMessage(conversation);
    this.kept = this.unsent.read();
    this.tray = new AttachmentTray(this.words, conversation, () => this.showSendable());
    const { words, log, tray, isInline } = this;
    const agentId = host.getAttribute("agent-id") ?? "";
    this.panel = new Panel(
      this.root,
      { words, log, tray, isInline, agentId },
      {
        startAnew: () => this.startAnew(),
        stop: () => this.stop(),
        submit: (text) => this.submitMessage(text),
        write: (text) => this.unsent.write({ text }),
      },
    );
    this.reach = new ServiceReach(conversation, this.listening.signal, () => this.showNetwork());
    this.followScheme(onSchemeChange);
  }

  /** Follow what changes around the widget: the visitor's scheme and the network. */
  private followScheme(onSchemeChange: () => void) {
    const { signal } = this.listening;
    this.darkness.addEventListener("change", () => this.look && onSchemeChange(), { signal });
    for (const name of ["online", "offline"]) addEventListener(name, () => this.showNetwork(), { signal });
    this.showNetwork();
  }

  begin() {
    this.greeting = this.log.add("agent", this.words.greeting);
  }

  mount() {
    if (!this.isInline) this.root.append(this.panel.launcher);
    this.root.append(this.panel.element);
    this.panel.element.hidden = !this.isInline;
  }

  stopAll() {
    this.sending?.abort();
    this.awaiting?.abort();
    this.listening.abort();
  }

  showLook(look: Look, allowsAttachments: boolean) {
    this.look = look;
    const isDark = look.scheme === "dark" || (look.scheme !== "light" && this.darkness.matches);
    this.root.dataset.scheme = isDark ? "dark" : "light";
    this.root.dataset.position = look.position;
    const accents = `:host { --accent: ${look.accent}; --on-accent: ${look.onAccent}; }`;
    this.accents.replaceSync(look.accent ? accents : "");
    this.panel.show(look);
    this.log.name = look.title;
    this.log.hidesSources = look.hidesSources;
    this.tray.setAllowed(allowsAttachments);
    if (this.greeting) this.log.fillBubble(this.greeting, "agent", look.greeting);
    this.showSuggestions();
  }

  private showSuggestions() {
    this.panel.showSuggestions(this.look?.suggestions ?? []);
  }

  private showNetwork() {
    const { offline, lost } = this.words;
    this.panel.showNetwork(navigator.onLine === false ? offline : this.reach.isLost ? lost : "");
    this.showSendable();
  }

  /** Nothing is sent without a network, and not before the files have arrived. */
  private showSendable() {
    // The tray reports while the panel is made.
    if (this.panel) this.panel.sendButton.disabled = navigator.onLine === false || this.tray.isUploading;
    // Before that, the files of before are still to be put back.
    if (this.isUnsentShown) this.unsent.write({ files: this.tray.sendable });
  }

  /** What was written before the page was loaded again, a question that the service does not have, and why. */
  showUnsent(messages: StoredMessage[]) {
    const { text, files, asked, failed } = reconcileUnsent(this.kept, messages);
    this.isUnsentShown = true;
    this.unsent.write({ text, asked: null, failed });
    if (text || files.length) this.putBack({ text, files }, {});
    if (asked) this.putBack(asked, {});
    const bubble = failed?.isPutBack ? null : this.log.findLastMessage("visitor");
    if (failed) this.log.addFailure({ ...failed, bubble: bubble ?? null }, restoreChatError(failed));
    this.showSendable();
  }

  /** Show what was said before the page was loaded again, and return it; a chat that cannot be read begins empty. */
  async showEarlier(): Promise<StoredMessage[]> {
    if (!this.conversation.hasBegunBefore) return [];
    const { sessionId } = this.conversation;
    const messages = await this.conversation.loadMessages().catch(() => []);
    const isOvertaken = this.sending || sessionId !== this.conversation.sessionId || !this.log.isEmpty;
    if (isOvertaken) return messages;
    for (const [at, message] of messages.entries()) this.showStored(message, messages, at);
    this.showSuggestions();
    return messages;
  }

  /** A message of before; one that failed can be sent again if nothing was said after it. */
  private showStored(message: StoredMessage, messages: StoredMessage[], at: number) {
    const isVisitor = message.role === "user";
    if (isVisitor && isRepeatedQuestion(messages, at)) return;
    const bubble = this.log.add(isVisitor ? "visitor" : "agent", message.content, message.attachments);
    if (!isVisitor) this.log.addSources(bubble, message.sources, message.content, message.id);
    if (message.is_waiting) void this.awaitDecision(bubble, message.id);
    if (!message.has_failed) return;
    const isLast = at === messages.length - 1;
    const error = new ChatError(isVisitor ? "unanswered" : "cutOff", { mayRetry: isLast, wasBegun: true });
    const asked = isVisitor ? message : messages[at - 1];
    const question = { text: asked?.content ?? "", files: asked?.attachments ?? [], bubble: isVisitor ? bubble : null };
    this.log.addFailure(question, error);
  }

  private stop() {
    this.sending?.abort();
    this.panel.input.focus();
  }

  private startAnew() {
    this.stop();
    this.awaiting?.abort();
    this.unsent.write({ text: "", files: [], asked: null, failed: null });
    this.conversation.startAnew();
    this.kept = this.unsent.read();
    this.log.clear();
    this.tray.clear();
    this.greeting = this.log.add("agent", this.look?.greeting ?? this.words.greeting);
    this.showSuggestions();
  }

  private submitMessage(message: string) {
    const text = message || (this.tray.sendable.length ? this.words.seeFiles : "");
    if (!text || this.sending || this.panel.sendButton.disabled) return;
    const files = this.tray.take();
    this.panel.input.value = "";
    this.unsent.write({ text: "" });
    this.panel.input.focus();
    const bubble = this.log.add("visitor", text, files);
    this.showSuggestions();
    void this.askQuestion({ text, files, bubble, typed: message });
  }

  /** Send a message that failed again; returns whether it is on its way. */
  private askAgain(question: Question): boolean {
    const { input, sendButton } = this.panel;
    if (this.sending || sendButton.disabled) return false;
    if (question.isPutBack && (input.value.trim() || this.tray.sendable.length)) {
      this.submitMessage(input.value.trim());
      return true;
    }
    if (question.isPutBack) question.bubble = this.log.add("visitor", question.text, question.files);
    void this.askQuestion({ ...question, isPutBack: false });
    input.focus();
    return true;
  }

  private setBusy(controller: AbortController | null) {
    this.sending = controller;
    this.panel.showBusy(Boolean(controller));
  }

  private async askQuestion(question: Question) {
    const controller = new AbortController();
    this.log.clearFailure();
    const bubble = this.log.addPending();
    this.unsent.write({ asked: question, failed: null });
    let text = "";
    let isDrawn = true;
    let ended: EndedReply | null = null;
    const drawReply = () => {
      isDrawn = true;
      this.log.streamText(bubble, text);
    };
    const receivePiece = (piece: string) => {
      text += piece;
      // What stands below the text at its end must not be drawn over.
      if (isDrawn) requestAnimationFrame(() => ended || drawReply());
      isDrawn = false;
    };
    const beginReply = () => this.unsent.write({ asked: null });
    const { report } = this.reach;
    this.setBusy(controller);
    try {
      const end = await this.conversation.sendQuestion(
        question,
        { hear: receivePiece, begin: beginReply, report },
        controller.signal,
      );
      if (end.broken) ({ text, ended } = endStoredReply(end.broken, text));
      else ended = end;
    } catch (error) {
      ended = { failure: await explainStoredFailure(error, question, text, this.conversation, controller.signal) };
      if (!text) bubble.remove();
    }
    if (text || !ended.failure) drawReply();
    if (this.reach.isLost && isAbortError(ended.failure)) this.reach.report(true);
    if (this.sending === controller) this.setBusy(null);
    this.finishReply(bubble, question, text, ended);
  }

  private finishReply(bubble: HTMLElement, question: Question, text: string, ended: EndedReply) {
    if (isAbortError(ended.failure)) {
      if (text && bubble.isConnected) this.log.addNote(bubble, this.words.stopped, "waiting");
    } else if (ended.failure) {
      this.failQuestion(question, ended.failure);
    } else {
      this.log.addSources(bubble, ended.sources, text, ended.message_id);
      if (ended.finish_reason === "awaiting_approval") void this.awaitDecision(bubble, ended.message_id ?? "");
    }
  }

  /** Say why there is no reply. What the service does not have goes back into the field. */
  private failQuestion(question: Question, error: unknown) {
    const failure: Partial<ChatError> = error instanceof Error ? error : {};
    if (failure.message === "unreachable") this.reach.watch();
    if (!failure.details) this.unsent.write({ failed: failQuestion(question, error) });
    if (failure.wasBegun) return this.log.addFailure(question, error);
    question.bubble?.remove();
    this.putBack(question, failure);
    if (!failure.details) this.log.addFailure({ ...question, isPutBack: true }, error);
    this.showSuggestions();
  }

  /** What was typed since then stays as well. */
  private putBack(question: Question, failure: Failure) {
    const { input } = this.panel;
    input.value = putQuestionBefore(question.typed ?? question.text, input.value);
    this.unsent.write({ text: input.value, asked: null });
    if (question.files.length) this.tray.putBack(question.files, failure);
  }

  /** Say that the reply waits for somebody, and show it when it comes. */
  private async awaitDecision(bubble: HTMLElement, messageId: string) {
    const controller = new AbortController();
    this.awaiting?.abort();
    this.awaiting = controller;
    const notice = this.log.addNote(bubble, this.words.waiting, "waiting");
    try {
      const reply = await this.conversation.waitForDecision(messageId, controller.signal);
      this.log.fillBubble(bubble, "agent", reply.content);
      this.log.addSources(bubble, reply.sources, reply.content, messageId);
      if (reply.has_failed) this.log.addNote(bubble, this.words.cutOff, "failure");
      this.log.scrollDown();
    } catch (error) {
      notice.remove();
      const said = error instanceof ChatError ? error.describe(this.words) : this.words.failed;
      if (!isAbortError(error)) this.log.addNote(bubble, said, "failure");
    } finally {
      if (this.awaiting === controller) this.awaiting = null;
    }
  }
}
