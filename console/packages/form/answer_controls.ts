/* Buttons and controls for the current question of a conversation. */

import { createElement } from "@retinue/elements";
import { formWords } from "@retinue/words/form";
import { maxRatingOf } from "./choice_fields";
import type { FieldContext } from "./field_view";
import { FileFieldView } from "./file_field";
import type { ConversationInput, FieldOption, FormField } from "./form_types";
import { SignatureFieldView } from "./signature_field";

const MAX_BUTTONS = 30;
const MAX_RATING_BUTTONS = 10;
/** A label with a separator or a conjunction is sent as JSON, so that the server does not split it. */
const SEPARATORS = /[,;+&\n[]|\b(and|und|or|et|y)\b/i;

/** An answer to a question: what is sent, and what the visitor reads of it. */
export type ConversationReply = { content: string; text?: string; fileIds?: string[] };

type AnswerButton = { label: string; content: string };
type Send = (reply: ConversationReply) => void;

export class AnswerControls {
  readonly element = createElement("div", { class: "buttons" });

  constructor(
    private readonly context: FieldContext,
    private readonly send: Send,
  ) {}

  clear() {
    this.element.replaceChildren();
  }

  /** Offer what answers this question; without one, nothing. */
  show(input: ConversationInput | null | undefined, field: FormField | undefined) {
    this.clear();
    if (!input) return;
    const isMulti = input.type === "multi_select" || input.type === "checkbox_group";
    const options = input.options.map(({ value, label }) => ({ value, label: String(label ?? value) }));
    if (input.type === "confirm" || input.type === "checkbox") this.addButtons(YES_OR_NO);
    else if (input.type === "file" && field) this.addFileControl(field);
    else if (input.type === "signature" && field) this.addSignatureControl(field);
    else if (input.type === "rating") this.addButtons(listRatings(field));
    else if (options.length && options.length <= MAX_BUTTONS) {
      if (isMulti) this.addBoxes(options);
      else this.addButtons(options.map(({ label }) => ({ label, content: label })));
    }
    if (!input.required && input.field_id) this.addButtons([{ label: formWords.skip, content: "skip" }]);
  }

  private makeButton(label: string, onclick: () => void): HTMLElement {
    return createElement("button", { type: "button", class: "pill", onclick }, label);
  }

  private addButtons(buttons: AnswerButton[]) {
    this.element.append(
      ...buttons.map(({ label, content }) => this.makeButton(label, () => this.send({ content, text: label }))),
    );
  }

  private addBoxes(options: FieldOption[]) {
    const boxes = options.map((option) => ({ option, input: createElement("input", { type: "checkbox" }) }));
    const rows = boxes.map(({ option, input }) =>
      createElement("label", { class: "choice" }, input, createElement("span", {}, option.label)),
    );
    const sendChecked = () => {
      const chosen = boxes.filter(({ input }) => input.checked).map(({ option }) => option);
      if (chosen.length) this.send(formatChoices(chosen));
    };
    this.element.append(...rows, this.makeButton(formWords.chooseThese, sendChecked));
  }

  private addFileControl(field: FormField) {
    const view = new FileFieldView(withDefaultLabel(field), "talk", this.context);
    const sendFiles = async () => {
      await view.settle();
      const fileIds = [view.readAnswer() ?? []].flat();
      if (fileIds.length) this.send({ content: view.fileNames.join(", "), fileIds });
      else view.focus();
    };
    this.element.append(view.element, this.makeButton(formWords.sendFile, sendFiles));
  }

  private addSignatureControl(field: FormField) {
    const view = new SignatureFieldView(withDefaultLabel(field), "talk", this.context);
    const sendSignature = () => {
      const content = view.readAnswer();
      if (content) this.send({ content, text: view.isDrawn ? formWords.signature : content });
      else view.focus();
    };
    this.element.append(view.element, this.makeButton(formWords.sign, sendSignature));
  }
}

const YES_OR_NO: AnswerButton[] = [
  { label: formWords.yes, content: "yes" },
  { label: formWords.no, content: "no" },
];

const withDefaultLabel = (field: FormField): FormField => ({ ...field, label: field.label || formWords.yourAnswer });

const listRatings = (field: FormField | undefined): AnswerButton[] =>
  Array.from({ length: Math.min(MAX_RATING_BUTTONS, maxRatingOf(field)) }, (_, at) => {
    const rating = String(at + 1);
    return { label: rating, content: rating };
  });

/** The reply of a question with several choices, in words where the server reads these back as the same choices. */
export function formatChoices(chosen: FieldOption[]): ConversationReply {
  const text = chosen.map(({ label }) => label).join(", ");
  const isPlain = !chosen.some(({ label }) => SEPARATORS.test(label));
  return { content: isPlain ? text : JSON.stringify(chosen.map(({ value }) => value)), text };
}
