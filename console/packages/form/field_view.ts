import { createElement, type ElementAttributes } from "@retinue/elements";
import { fillPlaceholders } from "@retinue/words";
import { formWords } from "@retinue/words/form";
import type { FormServer } from "./form_server";
import type { FieldRules, FormField } from "./form_types";

/** What a field needs of the form or the conversation that it is in. */
export type FieldContext = {
  server: FormServer;
  onChange: (view: FieldView) => void;
  /** The tag of a heading this many levels below the form's name. */
  headingTag: (levelsBelow: number) => string;
};

/**
 * The base of all fields: a frame with label, help and problem, and the answer.
 *
 * Nothing is validated here: the server decides, so that the page accepts exactly what the API accepts.
 */
export abstract class FieldView {
  protected readonly problem: HTMLElement;
  protected readonly rules: FieldRules;
  private frame: HTMLElement | undefined;

  constructor(
    readonly field: FormField,
    readonly id: string,
    protected readonly context: FieldContext,
  ) {
    this.rules = field.validation ?? {};
    this.problem = createElement("p", { class: "problem", id: `${id}-problem`, hidden: "" });
  }

  /** The control of the field, or the group of its controls. */
  protected abstract makeControl(): HTMLElement;

  /** Return the answer to send; undefined for none. */
  abstract readAnswer(): unknown;

  abstract showAnswer(answer: unknown): void;

  get element(): HTMLElement {
    if (!this.frame) {
      this.frame = this.makeFrame();
      this.start();
    }
    return this.frame;
  }

  get name() {
    return this.field.label || this.field.id;
  }

  get isAnswerable() {
    return true;
  }

  /** Resolves when the answer is complete. */
  settle(): Promise<void> {
    return Promise.resolve();
  }

  /** Return the value that conditions compare. */
  readComparedValue(): unknown {
    return this.readAnswer();
  }

  focus() {
    this.focusTarget?.focus();
  }

  markProblem(message: string) {
    this.problem.textContent = message ? fillPlaceholders(formWords.problem, { problem: message }) : "";
    this.problem.hidden = !message;
    this.element.classList.toggle("wrong", Boolean(message));
    if (message) this.focusTarget?.setAttribute("aria-invalid", "true");
    else this.focusTarget?.removeAttribute("aria-invalid");
  }

  /** Called once, when the frame is made. */
  protected start() {}

  protected get focusTarget() {
    return this.element.querySelector<HTMLElement>(`#${this.id}`);
  }

  /** The ids of the texts that screen readers announce with the control. */
  protected get describedBy() {
    return [this.field.help_text ? `${this.id}-help` : "", `${this.id}-problem`].filter(Boolean).join(" ");
  }

  protected makeHelp(): HTMLElement[] {
    return this.field.help_text
      ? [createElement("p", { class: "hint", id: `${this.id}-help` }, this.field.help_text)]
      : [];
  }

  /** The name of the field. The star is visual; `aria-required` tells screen readers. */
  protected makeLabel(): (HTMLElement | string)[] {
    return this.field.required
      ? [this.name, createElement("span", { class: "star", "aria-hidden": "true" }, " *")]
      : [this.name];
  }

  protected makeFrame(): HTMLElement {
    const label = createElement("label", { for: this.id }, ...this.makeLabel());
    const attributes = { class: `field ${this.field.type}` };
    return createElement("div", attributes, label, ...this.makeHelp(), this.makeControl(), this.problem);
  }

  /** Return the attributes of the control or group. */
  protected makeAttributes(more: ElementAttributes = {}): ElementAttributes {
    const required = this.field.required ? "true" : undefined;
    return { id: this.id, "aria-describedby": this.describedBy, "aria-required": required, ...more };
  }

  protected reportChange() {
    this.context.onChange(this);
  }
}
