/* Fields that show no control: hidden ones, and texts between the others. */

import { createElement } from "@retinue/elements";
import { FieldView } from "./field_view";

const makeParagraph = (text: string) => createElement("p", { class: "plain" }, text);

/** Sent but never visible; the value is the URL parameter of the field's name, or the form's default. */
export class HiddenFieldView extends FieldView {
  private answer: unknown;

  protected override makeFrame() {
    return this.makeControl();
  }

  protected makeControl() {
    return createElement("div", { hidden: "" });
  }

  readAnswer() {
    return this.answer === "" ? undefined : this.answer;
  }

  showAnswer(answer: unknown) {
    this.answer = answer;
  }

  override markProblem() {}
}

export class SectionView extends FieldView {
  override get isAnswerable() {
    return false;
  }

  protected override makeFrame() {
    return this.makeControl();
  }

  protected makeControl(): HTMLElement {
    const text = this.field.content || this.field.help_text;
    const heading = createElement(this.context.headingTag(1), {}, this.field.label ?? "");
    return createElement("div", { class: "section" }, heading, ...(text ? [makeParagraph(text)] : []));
  }

  readAnswer() {
    return undefined;
  }

  showAnswer() {}
}

export class ParagraphView extends SectionView {
  protected override makeControl() {
    const { label, content, help_text: help } = this.field;
    const texts = [label, content, help].flatMap((text) => text || []);
    return createElement("div", { class: "paragraph" }, ...texts.map(makeParagraph));
  }
}
