// Options are identified by their position and sent as the server's value, so that a number stays a number.

const MIN_SEARCHABLE_OPTIONS = 12;
const MAX_LOADED_OPTIONS = 100;
const SEARCH_DELAY_MS = 250;

function optionsOf(field) {
  const given = field.options?.length ? field.options : field.validation?.options ?? [];
  return given.map((one) => {
    if (one === null || typeof one !== "object") return { value: one, label: String(one) };
    return { value: one.value, label: String(one.label ?? one.value) };
  });
}

/** The options and the chosen ones; both are kept while a search shows other options. */
class ChoiceView extends FieldView {
  constructor(field, id, form) {
    super(field, id, form);
    this.chosen = [];
    this.isFromTable = Boolean(field.data_source) && !optionsOf(field).length;
    this.show(this.isFromTable ? [] : optionsOf(field));
    if (this.isFromTable) this.find("");
    else if (this.known.length > MIN_SEARCHABLE_OPTIONS && this.isMany) this.offerSearch();
  }

  get isMany() {
    return this.field.type === "multi_select" || this.field.type === "checkbox_group";
  }

  /** The newest search wins, even if an older one is answered later. */
  async find(text) {
    this.asked = text;
    try {
      const found = await this.form.server.options(this.field.id, text);
      if (this.asked !== text) return;
      if (!text && found.length >= MIN_SEARCHABLE_OPTIONS) this.offerSearch();
      this.show(found);
      if (text) this.told.textContent = found.length >= MAX_LOADED_OPTIONS ? `The first ${found.length} are shown` : `${found.length} found`;
    } catch {
      if (this.asked === text) this.mark("has no options at this moment; try again later");
    }
  }

  offerSearch() {
    if (this.search) return;
    this.told = make("span", { class: "unseen", role: "status" });
    this.search = make("input", {
      type: "search", "aria-label": `Search ${this.name}`, placeholder: "Search", autocomplete: "off",
      oninput: () => {
        clearTimeout(this.waiting);
        this.waiting = setTimeout(() => this.onSearch(), SEARCH_DELAY_MS);
      },
      onkeydown: (event) => {
        if (event.key === "Enter") event.preventDefault();
      },
    });
    this.place.before(this.search, this.told);
  }

  onSearch() {
    const text = this.search.value.trim();
    if (this.isFromTable) {
      this.find(text);
      return;
    }
    const found = optionsOf(this.field).filter(({ label }) => folded(label).includes(folded(text)));
    this.show(found);
    this.told.textContent = `${found.length} found`;
  }

  isChosen(option) {
    return this.chosen.some((one) => String(one.value) === String(option.value));
  }

  /** Show the results of a search after the options chosen before. */
  show(found) {
    this.known = [...this.chosen.filter((one) => !found.some(({ value }) => String(value) === String(one.value))), ...found];
    this.draw();
  }

  value() {
    const values = this.chosen.map(({ value }) => value);
    if (!values.length) return undefined;
    return this.isMany ? values : values[0];
  }

  set(value) {
    const values = Array.isArray(value) ? value : [value];
    const known = new Map(this.known.map((option) => [String(option.value), option]));
    this.chosen = values.map((one) => known.get(String(one)) ?? { value: one, label: String(one) });
    if (!this.isFromTable) this.chosen = this.chosen.filter((one) => known.has(String(one.value)));
    this.show(this.known);
  }

  choose(chosen) {
    this.chosen = chosen;
    this.changed();
  }
}

class SelectView extends ChoiceView {
  control() {
    this.select = make("select", this.attributes({
      onchange: () => this.choose(this.select.value === "" ? [] : [this.known[Number(this.select.value)]]),
    }));
    this.place = this.select;
    return this.select;
  }

  draw() {
    const options = this.known.map((option, at) => {
      const element = make("option", { value: at }, option.label);
      element.selected = this.isChosen(option);
      return element;
    });
    this.select.replaceChildren(make("option", { value: "" }, this.field.placeholder || "Choose…"), ...options);
    if (!this.chosen.length) this.select.value = "";
  }
}

/** A group of checkboxes or radio buttons under a legend. */
class GroupView extends ChoiceView {
  frame(control) {
    // A group is not a control, so its descriptions belong to the fieldset.
    const role = this.isMany ? "group" : "radiogroup";
    return make("fieldset", {
      class: `field ${this.field.type}`, role, "aria-describedby": this.describedBy,
      "aria-required": this.field.required && !this.isMany ? "true" : undefined,
    }, make("legend", {}, ...this.marked()), ...this.help(), control, this.problem);
  }

  control() {
    this.place = make("div", { class: "choices" });
    return this.place;
  }

  draw() {
    const type = this.isMany ? "checkbox" : "radio";
    const rows = this.known.map((option, at) => {
      const input = make("input", {
        type, name: this.id, id: at ? undefined : this.id, onchange: () => this.onPick(option, input.checked),
      });
      input.checked = this.isChosen(option);
      return make("label", { class: "choice" }, input, make("span", {}, option.label));
    });
    this.place.replaceChildren(...rows, ...this.clearing());
  }

  onPick(option, isPicked) {
    const others = this.isMany ? this.chosen.filter((one) => String(one.value) !== String(option.value)) : [];
    this.choose(isPicked ? [...others, option] : others);
    if (this.clear) this.clear.hidden = !this.chosen.length;
  }

  /** A button that clears an optional answer. */
  clearing() {
    if (this.isMany || this.field.required) return [];
    this.clear = make("button", {
      type: "button", class: "quiet", "aria-label": `Clear ${this.name}`,
      onclick: () => {
        this.choose([]);
        this.draw();
        this.focus();
      },
    }, "Clear");
    this.clear.hidden = !this.chosen.length;
    return [this.clear];
  }

  mark(message) {
    super.mark(message);
    this.element.querySelector(`#${this.id}`)?.removeAttribute("aria-invalid");
    // ARIA does not allow aria-invalid on a plain group; the problem still describes it.
    if (message && !this.isMany) this.element.setAttribute("aria-invalid", "true");
    else this.element.removeAttribute("aria-invalid");
  }
}

/** Stars for up to ten, a list of numbers above that. */
class RatingView extends GroupView {
  constructor(field, id, form) {
    const most = field.validation?.max ?? 5;
    const options = Array.from({ length: most }, (_, at) => ({ value: at + 1, label: `${at + 1} of ${most}` }));
    super({ ...field, options, data_source: undefined }, id, form);
  }

  draw() {
    super.draw();
    if (this.known.length > 10) return;
    const number = Number(this.chosen[0]?.value ?? 0);
    this.place.classList.add("stars");
    [...this.place.querySelectorAll("label")].forEach((label, at) => {
      label.classList.toggle("full", at < number);
      label.querySelector("span").className = "unseen";
      label.append(make("span", { class: "figure", "aria-hidden": "true" }, "★"));
    });
  }

  choose(chosen) {
    super.choose(chosen);
    const number = Number(chosen[0]?.value ?? 0);
    [...this.place.querySelectorAll("label")].forEach((label, at) => label.classList.toggle("full", at < number));
  }
}
