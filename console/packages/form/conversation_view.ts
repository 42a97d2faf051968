import { createElement, createRandomId } from "@retinue/elements";
import { fillPlaceholders } from "@retinue/words";
import { formWords } from "@retinue/words/form";
import { AnswerControls, type ConversationReply } from "./answer_controls";
import { ConversationLog } from "./conversation_log";
import { ConversationServer } from "./conversation_server";
import { FormError, formErrorMessage } from "./form_error";
import type { Answers, ConversationAnswerBody, ConversationTurn, FormField, SubmissionEnd } from "./form_types";
import type { FormViewOptions } from "./form_view";
import { TabStorage, UnsentAnswer } from "./tab_storage";

type ConversationActions = {
  /** The answers were submitted. */
  onEnd: (end: SubmissionEnd) => void;
  /** The visitor would rather fill in the form. */
  onForm: (answers: Answers) => void;
};

/** A form filled in by conversation: one question at a time, with buttons for choices. */
export class ConversationView {
  readonly element: HTMLElement;
  private readonly server: ConversationServer;
  private readonly fields: Map<string, FormField>;
  private readonly storage: TabStorage;
  private readonly unsent: UnsentAnswer;
  private readonly log = new ConversationLog();
  private readonly progress = createElement("p", { class: "hint", role: "status" });
  private readonly controls: AnswerControls;
  private readonly input: HTMLTextAreaElement;
  private readonly sendButton = createElement("button", { type: "submit", class: "send" }, formWords.send);
  private readonly formElement: HTMLElement;
  private readonly formButton: HTMLElement;
  private conversationId: string | undefined;
  private field: FormField | undefined;
  private lastAnswer: string | undefined;
  private isBusy = false;
  private isSentEarly = false;

  constructor(
    { form, server }: Pick<FormViewOptions, "form" | "server">,
    private readonly actions: ConversationActions,
  ) {
    this.server = new ConversationServer(server, form);
    this.fields = new Map(form.fields.map((field) => [field.id, field]));
    this.storage = new TabStorage(`retinue-form:${form.slug}`);
    this.unsent = new UnsentAnswer(`retinue-form:${form.slug}:unsent`);
    const context = { server, onChange: () => undefined, headingTag: () => "h2" };
    this.controls = new AnswerControls(context, (reply) => this.sendReply(reply));
    this.input = this.makeInput();
    const submission = { class: "say", onsubmit: (event: Event) => this.onSubmit(event) };
    this.formElement = createElement("form", submission, this.input, this.sendButton);
    const change = { type: "button", class: "quiet", onclick: () => this.switchToForm() };
    this.formButton = createElement("button", change, formWords.asForm);
    const parts = [this.progress, this.log.element, this.controls.element, this.formElement, this.formButton];
    this.element = createElement("div", { class: "talk" }, ...parts);
    void this.begin();
  }

  private makeInput(): HTMLTextAreaElement {
    const input = createElement("textarea", {
      rows: "1",
      placeholder: formWords.writeAnswer,
      "aria-label": formWords.yourAnswer,
      onkeydown: (event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.onSubmit(event);
      },
    });
    input.addEventListener("input", () => this.unsent.write({ text: input.value }));
    return input;
  }

  /** Continue the conversation of this tab, or start one. */
  private async begin() {
    const storedId = this.storage.read();
    await this.runBusy(
      async () => {
        const conversation = (storedId && (await this.findEarlier(storedId))) || (await this.server.start());
        this.storage.write(conversation.id);
        this.conversationId = conversation.id;
        this.showTurn(conversation);
        this.showUnsent();
      },
      () => this.begin(),
    );
    if (this.conversationId && this.isSentEarly) this.sendInput();
  }

  /** Show the messages of before a reload; null if that conversation is over. */
  private async findEarlier(storedId: string) {
    const stored = await this.server.findActive(storedId);
    if (!stored) return null;
    for (const message of stored.messages) this.log.addMessage(message);
    this.lastAnswer = stored.messages.findLast(({ role }) => role === "user")?.content;
    return stored.state;
  }

  /** Put back what was written before a reload, or an answer that may not have arrived. */
  private showUnsent() {
    const { text = "", unconfirmed } = this.unsent.read();
    const isMissing = unconfirmed && unconfirmed !== this.lastAnswer;
    if (!this.input.value) this.input.value = isMissing ? unconfirmed : text;
    this.unsent.write({ text: this.input.value, unconfirmed: null });
  }

  private onSubmit(event: Event) {
    event.preventDefault();
    // An answer given before the first question arrives is sent right after it.
    if (this.conversationId) this.sendInput();
    else this.isSentEarly = true;
  }

  private sendInput() {
    this.isSentEarly = false;
    const content = this.input.value.trim();
    if (content) this.sendReply({ content });
  }

  private sendReply({ content, text = content, fileIds = [] }: ConversationReply) {
    const conversationId = this.conversationId;
    if (this.isBusy || !conversationId) return;
    this.input.value = "";
    // A file or a signature is attached again, so only what was written is kept.
    const isWritten = !fileIds.length && text === content;
    this.unsent.write({ text: "", unconfirmed: isWritten ? content : null });
    this.controls.clear();
    this.log.addMessage({ role: "user", content: text });
    // Only files name their field; written text may be about any field.
    const fieldId = fileIds.length ? this.field?.id : undefined;
    void this.postReply(conversationId, { content, file_ids: fileIds, ...(fieldId && { field_id: fieldId }) });
  }

  /** Without a response, retry with the same idempotency key, so that a message is not stored twice. */
  private async postReply(conversationId: string, body: ConversationAnswerBody, key = createRandomId()) {
    await this.runBusy(
      async () => {
        const turn = await this.server.sendAnswer(conversationId, body, key);
        this.unsent.write({ unconfirmed: null });
        this.showTurn(turn);
      },
      (error) => {
        const hasResponse = error instanceof FormError && !error.isUnreachable;
        return this.postReply(conversationId, body, hasResponse ? undefined : key);
      },
    );
  }

  private async runBusy(work: () => Promise<void>, retry: (error: unknown) => Promise<void>) {
    this.isBusy = true;
    this.sendButton.setAttribute("aria-disabled", "true");
    this.log.setBusy(true);
    try {
      await work();
    } catch (error) {
      this.showFailure(error, retry);
    }
    this.log.setBusy(false);
    this.sendButton.removeAttribute("aria-disabled");
    this.isBusy = false;
  }

  private showTurn(turn: ConversationTurn) {
    const { fields_completed: done, fields_total: all, assistant_message: message, input } = turn;
    this.progress.textContent = fillPlaceholders(formWords.answered, { done, all });
    if (message) this.log.addMessage({ role: "assistant", content: message.content });
    if (turn.status !== "active") {
      this.end(turn);
      return;
    }
    this.field = this.fields.get(input?.field_id ?? "");
    this.controls.show(input, this.field);
    this.log.scrollDown();
    this.input.focus({ preventScroll: true });
  }

  private end(turn: ConversationTurn) {
    this.storage.write(null);
    for (const part of [this.formElement, this.controls.element, this.formButton]) part.remove();
    if (turn.form_completed) this.actions.onEnd(turn);
    this.log.element.focus();
  }

  private showFailure(error: unknown, retry: (error: unknown) => Promise<void>) {
    const isClosed = error instanceof FormError && error.code === "conversation_closed";
    const label = isClosed ? formWords.startAgain : formWords.retry;
    const notice = this.log.addProblem(formErrorMessage(error), label, () => (isClosed ? this.begin() : retry(error)));
    if (!(error instanceof FormError && error.isUnreachable)) return;
    void this.server
      .waitUntilReachable(() => notice.element.isConnected)
      .then(() => {
        notice.text.textContent = formWords.reachable;
      });
  }

  /** Switch to the form and take the answers along. */
  private async switchToForm() {
    this.storage.write(null);
    this.actions.onForm(this.conversationId ? await this.server.cancel(this.conversationId) : {});
  }
}
