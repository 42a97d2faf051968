/**
 * The base of all fields: a frame with label, help and problem, and the answer.
 *
 * `value()` is sent (undefined for no answer), `seen()` is what conditions compare. Nothing is validated here: the
 * server decides, so that the page accepts exactly what the API accepts.
 */
class FieldView {
  constructor(field, id, form) {
    this.field = field;
    this.id = id;
    this.form = form;
    this.rules = field.validation ?? {};
    this.problem = make("p", { class: "problem", id: `${id}-problem`, hidden: "" });
    this.element = this.frame(this.control());
  }

  get name() {
    return this.field.label || this.field.id;
  }

  get isAsked() {
    return true;
  }

  /** The ids of the texts that screen readers announce with the control. */
  get describedBy() {
    return [this.field.help_text ? `${this.id}-help` : "", `${this.id}-problem`].filter(Boolean).join(" ");
  }

  help() {
    return this.field.help_text ? [make("p", { class: "hint", id: `${this.id}-help` }, this.field.help_text)] : [];
  }

  /** The star is visual; `aria-required` tells screen readers. */
  marked() {
    return this.field.required ? [this.name, make("span", { class: "star", "aria-hidden": "true" }, " *")] : [this.name];
  }

  frame(control) {
    return make("div", { class: `field ${this.field.type}` }, make("label", { for: this.id }, ...this.marked()), ...this.help(), control, this.problem);
  }

  /** Return the attributes of the control or group. */
  attributes(more = {}) {
    return { id: this.id, "aria-describedby": this.describedBy, "aria-required": this.field.required ? "true" : undefined, ...more };
  }

  changed() {
    this.form.onChange(this);
  }

  get focusTarget() {
    return this.element.querySelector(`#${this.id}`);
  }

  focus() {
    this.focusTarget?.focus();
  }

  mark(message) {
    this.problem.textContent = message ? `This ${message}.` : "";
    this.problem.hidden = !message;
    this.element.classList.toggle("wrong", Boolean(message));
    const target = this.element.querySelector(`#${this.id}`);
    if (message) target?.setAttribute("aria-invalid", "true");
    else target?.removeAttribute("aria-invalid");
  }

  seen() {
    return this.value();
  }

  /** Return the value to save as progress. */
  saved() {
    return this.value();
  }
}

const TYPES = { email: "email", phone: "tel", url: "url" };
const FILLED_IN_BY_BROWSERS = { email: "email", phone: "tel", url: "url" };
const SERVER_NUMBER = /^[+-]?\d{1,30}(\.\d{1,30})?(e[+-]?\d{1,3})?$/i;

/** Text of one or more lines. The input type only affects keyboards; the text is sent as written. */
class TextView extends FieldView {
  control() {
    const { type, placeholder } = this.field;
    const shared = this.attributes({ placeholder, oninput: () => this.changed() });
    if (type === "textarea") this.input = make("textarea", { ...shared, rows: "4" });
    else {
      this.input = make("input", {
        ...shared, type: TYPES[type] ?? "text", inputmode: type === "number" ? "decimal" : undefined,
        autocomplete: FILLED_IN_BY_BROWSERS[type] ?? "on",
      });
    }
    return this.input;
  }

  value() {
    return this.input.value.trim() ? this.input.value : undefined;
  }

  seen() {
    const value = this.value();
    if (value === undefined || this.field.type === "text" || this.field.type === "textarea") return value;
    const text = value.trim();
    return this.field.type === "number" && SERVER_NUMBER.test(text) ? Number(text) : text;
  }

  set(value) {
    this.input.value = String(value);
  }
}

/** A date or a date and time. An unfinished one is sent as an invalid value, so that the server reports it. */
class DateView extends FieldView {
  get isMoment() {
    return this.field.type === "datetime";
  }

  control() {
    this.input = make("input", this.attributes({
      type: this.isMoment ? "datetime-local" : "date", min: this.limit(this.rules.min_date, "T00:00"),
      max: this.limit(this.rules.max_date, "T23:59"), onchange: () => this.changed(),
    }));
    return this.input;
  }

  limit(given, timeOfDay) {
    if (!given) return undefined;
    if (!this.isMoment) return given.slice(0, 10);
    return given.length === 10 ? given + timeOfDay : localMoment(given);
  }

  /** A date and time is sent with the visitor's UTC offset. */
  value() {
    const { value, validity } = this.input;
    if (!value) return validity.badInput ? "unfinished" : undefined;
    return this.isMoment ? value + offsetAt(value) : value;
  }

  set(value) {
    this.input.value = this.isMoment ? localMoment(String(value)) : String(value).slice(0, 10);
  }
}

function twoDigits(number) {
  return String(Math.trunc(Math.abs(number))).padStart(2, "0");
}

function offsetAt(value) {
  const minutes = -new Date(value).getTimezoneOffset();
  return `${minutes < 0 ? "-" : "+"}${twoDigits(minutes / 60)}:${twoDigits(minutes % 60)}`;
}

function localMoment(text) {
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/i.test(text.slice(10));
  const moment = new Date(hasZone || text.length === 10 ? text : `${text}Z`);
  if (Number.isNaN(moment.getTime())) return "";
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

class CheckboxView extends FieldView {
  frame(control) {
    const label = make("label", { class: "choice" }, control, make("span", {}, ...this.marked()));
    return make("div", { class: "field checkbox" }, label, ...this.help(), this.problem);
  }

  control() {
    this.input = make("input", this.attributes({ type: "checkbox", onchange: () => this.changed() }));
    return this.input;
  }

  value() {
    return this.input.checked;
  }

  set(value) {
    this.input.checked = value === true || ["true", "on", "yes", "1"].includes(String(value).trim().toLowerCase());
  }
}

/** A slider without an answer until it is touched. */
class SliderView extends FieldView {
  control() {
    const { min = Math.min(0, (this.rules.max ?? 100) - 100), max = min + 100 } = this.rules;
    const step = this.rules.step ?? (max - min > 2 ? 1 : (max - min) / 100);
    const touch = () => {
      this.isAnswered = true;
      this.shown.textContent = this.input.value;
      this.input.removeAttribute("aria-valuetext");
      this.changed();
    };
    this.input = make("input", this.attributes({ type: "range", min, max, step, "aria-valuetext": "no answer", oninput: touch, onclick: touch }));
    this.input.value = (min + max) / 2;
    this.shown = make("output", { for: this.id }, "–");
    return make("div", { class: "line" }, this.input, this.shown);
  }

  value() {
    return this.isAnswered ? this.input.value : undefined;
  }

  seen() {
    return this.isAnswered ? Number(this.input.value) : undefined;
  }

  set(value) {
    this.input.value = String(value);
    this.isAnswered = true;
    this.shown.textContent = this.input.value;
    this.input.removeAttribute("aria-valuetext");
  }
}

/** Sent but never shown; the value is the URL parameter of the field's name, or the form's default. */
class HiddenView extends FieldView {
  frame() {
    return make("div", { hidden: "" });
  }

  control() {
    return null;
  }

  value() {
    return this.given === "" ? undefined : this.given;
  }

  set(value) {
    this.given = value;
  }

  mark() {}
}

class SectionView extends FieldView {
  get isAsked() {
    return false;
  }

  control() {
    return null;
  }

  frame() {
    const text = this.field.content || this.field.help_text;
    return make("div", { class: "section" }, make(this.form.headingTag(1), {}, this.field.label), ...(text ? [make("p", { class: "plain" }, text)] : []));
  }

  value() {
    return undefined;
  }
}

class ParagraphView extends SectionView {
  frame() {
    const texts = [this.field.label, this.field.content, this.field.help_text].filter(Boolean);
    return make("div", { class: "paragraph" }, ...texts.map((text) => make("p", { class: "plain" }, text)));
  }
}
