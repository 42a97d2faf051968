/* Options are identified by their position and sent as the server's value, so that a number stays a number. */

import { createElement } from "@retinue/elements";
import { fillPlaceholders } from "@retinue/words";
import { formWords } from "@retinue/words/form";
import { foldCase } from "./conditions";
import { type FieldContext, FieldView } from "./field_view";
import type { FieldOption, FormField } from "./form_types";

const MIN_SEARCHABLE_OPTIONS = 12;
const MAX_LOADED_OPTIONS = 100;
const SEARCH_DELAY_MS = 250;

/** Return the options that a field defines itself, with a label each. */
export function listFieldOptions({ options, validation }: Pick<FormField, "options" | "validation">): FieldOption[] {
  const defined = options?.length ? options : (validation?.options ?? []);
  return defined.map((option) => {
    if (option === null || typeof option !== "object") return { value: option, label: String(option) };
    const { value, label } = option as Partial<FieldOption>;
    return { value, label: String(label ?? value) };
  });
}

/** Values may have been saved as text. */
const isSameOption = (option: FieldOption, other: FieldOption) => String(option.value) === String(other.value);

/** The options and the chosen ones; both are kept while a search shows other options. */
export abstract class ChoiceFieldView extends FieldView {
  protected chosen: FieldOption[] = [];
  protected options: FieldOption[] = [];
  private readonly isFromTable = Boolean(this.field.data_source) && !listFieldOptions(this.field).length;
  private searchInput: HTMLInputElement | undefined;
  private readonly matchCount = createElement("span", { class: "unseen", role: "status" });
  private searchTimer: number | undefined;
  private searchText = "";

  /** The element that holds the options. */
  protected abstract readonly list: HTMLElement;

  protected abstract drawOptions(): void;

  protected override start() {
    this.showOptions(this.isFromTable ? [] : listFieldOptions(this.field));
    if (this.isFromTable) void this.loadOptions("");
    else if (this.options.length > MIN_SEARCHABLE_OPTIONS && this.allowsMany) this.offerSearch();
  }

  protected get allowsMany() {
    return this.field.type === "multi_select" || this.field.type === "checkbox_group";
  }

  protected makeControl(): HTMLElement {
    return this.list;
  }

  /** Load the options of a table. The newest search wins, even if an older one is answered later. */
  private async loadOptions(text: string) {
    this.searchText = text;
    try {
      const matches = await this.context.server.loadOptions(this.field.id, text);
      if (this.searchText !== text) return;
      if (!text && matches.length >= MIN_SEARCHABLE_OPTIONS) this.offerSearch();
      this.showOptions(matches);
      if (text) this.announceMatches(matches.length, matches.length >= MAX_LOADED_OPTIONS);
    } catch {
      if (this.searchText === text) this.markProblem(formWords.noOptions);
    }
  }

  private announceMatches(count: number, isCut = false) {
    this.matchCount.textContent = fillPlaceholders(isCut ? formWords.firstMatches : formWords.matches, { count });
  }

  private offerSearch() {
    if (this.searchInput) return;
    this.searchInput = createElement("input", {
      type: "search",
      "aria-label": fillPlaceholders(formWords.searchField, { name: this.name }),
      placeholder: formWords.search,
      autocomplete: "off",
      oninput: () => {
        clearTimeout(this.searchTimer);
        this.searchTimer = window.setTimeout(() => this.searchOptions(), SEARCH_DELAY_MS);
      },
      onkeydown: (event) => {
        if (event.key === "Enter") event.preventDefault();
      },
    });
    this.list.before(this.searchInput, this.matchCount);
  }

  private searchOptions() {
    const text = this.searchInput?.value.trim() ?? "";
    if (this.isFromTable) {
      void this.loadOptions(text);
      return;
    }
    const matches = listFieldOptions(this.field).filter(({ label }) => foldCase(label).includes(foldCase(text)));
    this.showOptions(matches);
    this.announceMatches(matches.length);
  }

  protected isChosen(option: FieldOption) {
    return this.chosen.some((chosen) => isSameOption(chosen, option));
  }

  /** Show the results of a search after the options chosen before. */
  private showOptions(matches: FieldOption[]) {
    const others = this.chosen.filter((chosen) => !matches.some((match) => isSameOption(match, chosen)));
    this.options = [...others, ...matches];
    this.drawOptions();
  }

  readAnswer(): unknown {
    const values = this.chosen.map(({ value }) => value);
    return this.allowsMany && values.length ? values : values[0];
  }

  showAnswer(answer: unknown) {
    const values = Array.isArray(answer) ? answer : [answer];
    const offered = new Map(this.options.map((option) => [String(option.value), option]));
    const chosen = values.map((value) => offered.get(String(value)) ?? { value, label: String(value) });
    // Rows of a table are offered a part at a time, so that an answer may be none of those that are shown.
    this.chosen = this.isFromTable ? chosen : chosen.filter(({ value }) => offered.has(String(value)));
    this.showOptions(this.options);
  }

  protected choose(chosen: FieldOption[]) {
    this.chosen = chosen;
    this.reportChange();
  }
}

export class SelectFieldView extends ChoiceFieldView {
  protected readonly list = createElement("select", this.makeAttributes({ onchange: () => this.chooseSelected() }));

  private chooseSelected() {
    const option = this.list.value === "" ? undefined : this.options[Number(this.list.value)];
    this.choose(option ? [option] : []);
  }

  protected drawOptions() {
    const options = this.options.map((option, at) => {
      const element = createElement("option", { value: at }, option.label);
      element.selected = this.isChosen(option);
      return element;
    });
    const none = createElement("option", { value: "" }, this.field.placeholder || formWords.choose);
    this.list.replaceChildren(none, ...options);
    if (!this.chosen.length) this.list.value = "";
  }
}

/** A group of checkboxes or radio buttons under a legend. */
export class GroupFieldView extends ChoiceFieldView {
  protected readonly list = createElement("div", { class: "choices" });
  private clearButton: HTMLElement | undefined;

  protected override makeFrame() {
    // A group is not a control, so its descriptions belong to the fieldset.
    const attributes = {
      class: `field ${this.field.type}`,
      role: this.allowsMany ? "group" : "radiogroup",
      "aria-describedby": this.describedBy,
      "aria-required": this.field.required && !this.allowsMany ? "true" : undefined,
    };
    const legend = createElement("legend", {}, ...this.makeLabel());
    return createElement("fieldset", attributes, legend, ...this.makeHelp(), this.makeControl(), this.problem);
  }

  protected drawOptions() {
    const rows = this.options.map((option, at) => this.makeRow(option, at));
    this.list.replaceChildren(...rows, ...this.makeClearButton());
  }

  private makeRow(option: FieldOption, at: number): HTMLElement {
    const input: HTMLInputElement = createElement("input", {
      type: this.allowsMany ? "checkbox" : "radio",
      name: this.id,
      id: at ? undefined : this.id,
      onchange: () => this.toggleOption(option, input.checked),
    });
    input.checked = this.isChosen(option);
    return createElement("label", { class: "choice" }, input, createElement("span", {}, option.label));
  }

  private toggleOption(option: FieldOption, isPicked: boolean) {
    const others = this.allowsMany ? this.chosen.filter((chosen) => !isSameOption(chosen, option)) : [];
    this.choose(isPicked ? [...others, option] : others);
    if (this.clearButton) this.clearButton.hidden = !this.chosen.length;
  }

  /** A button that clears an optional answer. */
  private makeClearButton(): HTMLElement[] {
    if (this.allowsMany || this.field.required) return [];
    const label = fillPlaceholders(formWords.clearField, { name: this.name });
    const attributes = { type: "button", class: "quiet", "aria-label": label, onclick: () => this.clearAnswer() };
    this.clearButton = createElement("button", attributes, formWords.clear);
    this.clearButton.hidden = !this.chosen.length;
    return [this.clearButton];
  }

  private clearAnswer() {
    this.choose([]);
    this.drawOptions();
    this.focus();
  }

  override markProblem(message: string) {
    super.markProblem(message);
    this.focusTarget?.removeAttribute("aria-invalid");
    // ARIA does not allow aria-invalid on a plain group; the problem still describes it.
    if (message && !this.allowsMany) this.element.setAttribute("aria-invalid", "true");
    else this.element.removeAttribute("aria-invalid");
  }
}

const DEFAULT_MAX_RATING = 5;
const MAX_STARS = 10;

export const maxRatingOf = (field: FormField | undefined) => field?.validation?.max ?? DEFAULT_MAX_RATING;

/** Stars for up to ten, a list of numbers above that. */
export class RatingFieldView extends GroupFieldView {
  constructor(field: FormField, id: string, context: FieldContext) {
    const max = maxRatingOf(field);
    const options = Array.from({ length: max }, (_, at) => ({
      value: at + 1,
      label: fillPlaceholders(formWords.rating, { number: at + 1, max }),
    }));
    super({ ...field, options, data_source: undefined }, id, context);
  }

  protected override drawOptions() {
    super.drawOptions();
    if (this.options.length > MAX_STARS) return;
    this.list.classList.add("stars");
    for (const label of this.list.querySelectorAll("label")) {
      label.querySelector("span")?.setAttribute("class", "unseen");
      label.append(createElement("span", { class: "figure", "aria-hidden": "true" }, "★"));
    }
    this.fillStars();
  }

  protected override choose(chosen: FieldOption[]) {
    super.choose(chosen);
    this.fillStars();
  }

  private fillStars() {
    const rating = Number(this.chosen[0]?.value ?? 0);
    for (const [at, label] of this.list.querySelectorAll("label").entries())
      label.classList.toggle("full", at < rating);
  }
}
