import { createElement } from "@retinue/elements";
import { formWords } from "@retinue/words/form";
import { FieldView } from "./field_view";
import type { FieldType } from "./form_types";

const INPUT_TYPES: Partial<Record<FieldType, string>> = { email: "email", phone: "tel", url: "url" };
const AUTOCOMPLETE: Partial<Record<FieldType, string>> = { email: "email", phone: "tel", url: "url" };
const SERVER_NUMBER = /^[+-]?\d{1,30}(\.\d{1,30})?(e[+-]?\d{1,3})?$/i;
const CHECKED_TEXTS = ["true", "on", "yes", "1"];

/** Text of one or more lines. The input type only affects keyboards; the text is sent as written. */
export class TextFieldView extends FieldView {
  private readonly input = this.makeInput();

  private makeInput(): HTMLInputElement | HTMLTextAreaElement {
    const { type, placeholder } = this.field;
    const shared = this.makeAttributes({ placeholder, oninput: () => this.reportChange() });
    if (type === "textarea") return createElement("textarea", { ...shared, rows: "4" });
    return createElement("input", {
      ...shared,
      type: INPUT_TYPES[type] ?? "text",
      inputmode: type === "number" ? "decimal" : undefined,
      autocomplete: AUTOCOMPLETE[type] ?? "on",
    });
  }

  protected makeControl() {
    return this.input;
  }

  readAnswer(): string | undefined {
    return this.input.value.trim() ? this.input.value : undefined;
  }

  override readComparedValue() {
    const answer = this.readAnswer();
    const { type } = this.field;
    if (answer === undefined || type === "text" || type === "textarea") return answer;
    const text = answer.trim();
    return type === "number" && SERVER_NUMBER.test(text) ? Number(text) : text;
  }

  showAnswer(answer: unknown) {
    this.input.value = String(answer);
  }
}

export class CheckboxFieldView extends FieldView {
  private readonly input = createElement(
    "input",
    this.makeAttributes({ type: "checkbox", onchange: () => this.reportChange() }),
  );

  protected override makeFrame() {
    const text = createElement("span", {}, ...this.makeLabel());
    const label = createElement("label", { class: "choice" }, this.makeControl(), text);
    return createElement("div", { class: "field checkbox" }, label, ...this.makeHelp(), this.problem);
  }

  protected makeControl() {
    return this.input;
  }

  readAnswer() {
    return this.input.checked;
  }

  showAnswer(answer: unknown) {
    this.input.checked = answer === true || CHECKED_TEXTS.includes(String(answer).trim().toLowerCase());
  }
}

/** A slider without an answer until it is touched. */
export class SliderFieldView extends FieldView {
  private isAnswered = false;
  private readonly output = createElement("output", { for: this.id }, "–");
  private readonly input = this.makeInput();

  private makeInput(): HTMLInputElement {
    const { min = Math.min(0, (this.rules.max ?? 100) - 100), max = min + 100 } = this.rules;
    const step = this.rules.step ?? (max - min > 2 ? 1 : (max - min) / 100);
    const onTouch = () => {
      this.confirmAnswer();
      this.reportChange();
    };
    const range = { type: "range", min, max, step, "aria-valuetext": formWords.noAnswer };
    const input = createElement("input", this.makeAttributes({ ...range, oninput: onTouch, onclick: onTouch }));
    input.value = String((min + max) / 2);
    return input;
  }

  protected makeControl() {
    return createElement("div", { class: "line" }, this.input, this.output);
  }

  private confirmAnswer() {
    this.isAnswered = true;
    this.output.textContent = this.input.value;
    this.input.removeAttribute("aria-valuetext");
  }

  readAnswer() {
    return this.isAnswered ? this.input.value : undefined;
  }

  override readComparedValue() {
    return this.isAnswered ? Number(this.input.value) : undefined;
  }

  showAnswer(answer: unknown) {
    this.input.value = String(answer);
    this.confirmAnswer();
  }
}
