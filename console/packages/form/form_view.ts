import { createElement } from "@retinue/elements";
import { formWords } from "@retinue/words/form";
import { findVisibleFields } from "./conditions";
import type { FieldView } from "./field_view";
import { createFieldView } from "./field_views";
import { FormError, formErrorMessage } from "./form_error";
import type { FormServer } from "./form_server";
import type { Answers, PublishedForm, Submission, SubmissionReceipt } from "./form_types";
import { describePageOrigin, readPageParameter } from "./page_address";
import { ProgressSaver } from "./progress_saver";
import { findProofOfWork } from "./proof_of_work";

const MAX_HEADING_LEVEL = 6;

/** What the form and the conversation are made from. */
export type FormViewOptions = {
  form: PublishedForm;
  server: FormServer;
  kind: string;
  headingLevel: number;
  sessionId: string | null;
  isPreview: boolean;
};

/** A form to fill in and send. */
export class FormView {
  readonly element: HTMLElement;
  private readonly form: PublishedForm;
  private readonly server: FormServer;
  private readonly views: FieldView[];
  private readonly saver: ProgressSaver;
  private readonly summary = createElement("div", { class: "summary", role: "alert", tabindex: "-1" });
  private readonly note = createElement("div", { class: "later", role: "status" });
  private readonly sendButton: HTMLElement;
  private readonly trapInput: HTMLInputElement | null;
  private token: string | undefined;
  private proof: Promise<string> | undefined;
  private visibleIds = new Set<string>();

  constructor(
    private readonly options: FormViewOptions & { answers: Answers },
    private readonly onSubmitted: (receipt: SubmissionReceipt) => void,
  ) {
    const { form, server, sessionId, isPreview, answers } = options;
    this.form = form;
    this.server = server;
    this.fetchToken(form.token);
    this.views = form.fields.map((field, at) => createFieldView(field, `field-${at}`, this.makeContext()));
    this.saver = new ProgressSaver(server, () => this.readAnswers(), { sessionId, isPreview });
    this.sendButton = createElement(
      "button",
      { type: "submit", class: "send" },
      form.settings.submit_button_text || formWords.send,
    );
    this.trapInput = this.makeTrapInput();
    this.element = createElement("div", {}, this.summary, this.makeFormElement());
    this.fillInDefaults();
    this.fillInAnswers(answers);
    if (sessionId) void this.resumeSession();
  }

  /** Keep the token, and begin with the work that it demands. */
  fetchToken(token: string | undefined) {
    this.token = token;
    const bits = this.form.settings.proof_of_work;
    this.proof = token && bits ? findProofOfWork(token, bits) : undefined;
  }

  stopSaving() {
    this.saver.stop();
  }

  private makeContext() {
    return {
      server: this.server,
      onChange: (view: FieldView) => this.onChange(view),
      headingTag: (levelsBelow: number) => `h${Math.min(MAX_HEADING_LEVEL, this.options.headingLevel + levelsBelow)}`,
    };
  }

  private makeFormElement(): HTMLElement {
    const hasRequired = this.form.fields.some((field) => field.required);
    const save = { type: "button", class: "quiet", onclick: () => this.saveForLater() };
    return createElement(
      "form",
      { novalidate: "", onsubmit: (event) => this.onSubmit(event) },
      ...(hasRequired ? [createElement("p", { class: "hint" }, formWords.required)] : []),
      ...this.views.map((view) => view.element),
      ...this.makeTrap(),
      this.sendButton,
      createElement("button", save, formWords.saveForLater),
      this.note,
    );
  }

  private makeTrapInput(): HTMLInputElement | null {
    const name = this.form.settings.honeypot;
    if (!name || this.form.fields.some((field) => field.id === name)) return null;
    return createElement("input", { type: "text", name, tabindex: "-1", autocomplete: "off" });
  }

  /** The honeypot: people neither see nor reach it, bots fill it in. */
  private makeTrap(): HTMLElement[] {
    if (!this.trapInput) return [];
    const label = createElement("label", {}, formWords.leaveEmpty, this.trapInput);
    return [createElement("div", { class: "unseen", "aria-hidden": "true" }, label)];
  }

  private get answerableViews() {
    return this.views.filter((view) => view.isAnswerable);
  }

  private fillInDefaults() {
    for (const view of this.answerableViews) {
      const { type, id, default_value: defaultValue } = view.field;
      const answer = type === "hidden" ? (readPageParameter(id) ?? defaultValue) : defaultValue;
      if (answer !== undefined && answer !== null) view.showAnswer(answer);
    }
  }

  /** Fill in the answers of an earlier visit or of a conversation. */
  private fillInAnswers(answers: Answers) {
    for (const view of this.answerableViews) {
      const { id, type } = view.field;
      if (type !== "hidden" && Object.hasOwn(answers, id)) view.showAnswer(answers[id]);
    }
    this.updateVisibility();
  }

  private async resumeSession() {
    try {
      this.fillInAnswers((await this.server.loadProgress(this.saver.sessionId)).data);
    } catch (error) {
      this.saver.resetSession();
      const isGone = error instanceof FormError && [404, 422].includes(error.status);
      this.showSummary(isGone ? formWords.nothingSaved : formErrorMessage(error), []);
    }
  }

  private async saveForLater() {
    try {
      const value = await this.saver.saveForLater();
      const attributes = { type: "text", readonly: "", value, "aria-label": formWords.savedLink };
      const link: HTMLInputElement = createElement("input", { ...attributes, onfocus: () => link.select() });
      this.note.replaceChildren(createElement("p", {}, formWords.saved), link);
    } catch (error) {
      this.note.replaceChildren(createElement("p", { class: "problem" }, formErrorMessage(error)));
    }
  }

  private onChange(view: FieldView) {
    view.markProblem("");
    this.updateVisibility();
    this.saver.noteChange(view.field.id);
  }

  private updateVisibility() {
    const values = new Map<string, unknown>();
    for (const view of this.answerableViews) {
      const value = view.readComparedValue();
      if (value !== undefined) values.set(view.field.id, value);
    }
    this.visibleIds = findVisibleFields(this.form.fields, values);
    for (const { element, field } of this.views)
      element.hidden = field.type === "hidden" || !this.visibleIds.has(field.id);
  }

  private readAnswers(): Answers {
    const views = this.answerableViews.filter((view) => this.visibleIds.has(view.field.id));
    const entries = views.map((view) => [view.field.id, view.readAnswer()] as const);
    return Object.fromEntries(entries.filter(([, answer]) => answer !== undefined));
  }

  private async makeBody(): Promise<Submission> {
    // The first progress report must not arrive after the submission.
    await Promise.all([this.saver.firstReport, ...this.views.map((view) => view.settle())]);
    const data = this.readAnswers();
    if (this.trapInput?.value) data[this.trapInput.name] = this.trapInput.value;
    return {
      data,
      metadata: describePageOrigin(this.options.kind),
      session_id: this.saver.lastFieldId ? this.saver.sessionId : undefined,
      token: this.token,
      proof: await this.proof,
    };
  }

  private async onSubmit(event: Event) {
    event.preventDefault();
    if (this.sendButton.hasAttribute("aria-disabled")) return;
    // Not `disabled`, which would remove the focus.
    this.sendButton.setAttribute("aria-disabled", "true");
    this.showSummary("", []);
    for (const view of this.views) view.markProblem("");
    try {
      const receipt = await this.submitAnswers();
      this.saver.stop();
      this.onSubmitted(receipt);
    } catch (error) {
      this.showRefusal(error);
    }
    this.sendButton.removeAttribute("aria-disabled");
  }

  /** Submit; if the form was open for a day, fetch a new token without bothering the visitor. */
  private async submitAnswers(): Promise<SubmissionReceipt> {
    try {
      return await this.server.submit(await this.makeBody());
    } catch (error) {
      if (!isStaleToken(error)) throw error;
      this.fetchToken((await this.server.loadForm(true)).token);
      return this.server.submit(await this.makeBody());
    }
  }

  /** Mark the refused answers, and list the problems with links to their fields. */
  private showRefusal(error: unknown) {
    const problems = error instanceof FormError ? error.problems : [];
    const views = new Map(this.views.map((view) => [view.field.id, view]));
    const links = problems.flatMap(({ field, message }) => {
      const view = views.get(field);
      return view ? [markRefusedAnswer(view, message)] : [];
    });
    const others = problems.filter(({ field }) => !views.has(field));
    const texts = others.map(({ field, message }) => (field === "token" ? message : `${field} ${message}`));
    const items = [...links, ...texts];
    this.showSummary(items.length ? formWords.lookAgain : formErrorMessage(error), items);
    const firstField = problems.find(({ field }) => views.has(field))?.field;
    if (firstField) views.get(firstField)?.focus();
    else this.summary.focus();
  }

  private showSummary(text: string, items: (HTMLElement | string)[]) {
    const list = items.length ? [createElement("ul", {}, ...items.map((item) => createElement("li", {}, item)))] : [];
    this.summary.replaceChildren(...(text ? [createElement("p", {}, text)] : []), ...list);
  }
}

const isStaleToken = (error: unknown) =>
  error instanceof FormError &&
  error.problems.some(({ field, message }) => field === "token" && message.includes("fetch the form again"));

/** Show the problem at its field, and return a link that leads there. */
function markRefusedAnswer(view: FieldView, message: string): HTMLElement {
  view.markProblem(message);
  const focusField = (event: Event) => {
    event.preventDefault();
    view.focus();
  };
  return createElement("a", { href: `#${view.id}`, onclick: focusField }, `${view.name} ${message}`);
}
