import { make } from "@retinue/elements";
import { fillIn } from "@retinue/words";
import type { WidgetWords } from "@retinue/words/widget";
import type { AttachmentTray } from "./attachment_tray";
import { agentMark, type IconName, icon } from "./drawing";
import type { Look } from "./look";
import type { MessageLog } from "./message_log";

type PanelOptions = {
  words: WidgetWords;
  log: MessageLog;
  tray: AttachmentTray;
  agentId: string;
  isInline: boolean;
};
type PanelActions = {
  startAnew: () => void;
  stop: () => void;
  submit: (text: string) => void;
  /** The visitor has changed the text in the field. */
  write: (text: string) => void;
};

/** The elements of the widget: the button that opens it, and the panel with the messages and the field. */
export class Panel {
  readonly input: HTMLTextAreaElement;
  readonly sendButton: HTMLButtonElement;
  readonly launcher: HTMLButtonElement;
  readonly element: HTMLElement;
  private readonly stopButton: HTMLButtonElement;
  private readonly heading = make("h2", { id: "title" });
  private readonly suggestions: HTMLElement;
  private readonly network = make("p", { class: "offline", role: "status" });

  constructor(
    private readonly root: HTMLElement,
    private readonly options: PanelOptions,
    private readonly actions: PanelActions,
  ) {
    const { words, log } = options;
    const expanded = { "aria-haspopup": "dialog", "aria-expanded": "false" };
    const launch = { type: "button", class: "launcher", ...expanded, onclick: () => this.toggle() };
    this.launcher = make("button", launch, icon("chat", 26), icon("down", 26));
    this.input = this.makeInput();
    this.sendButton = make("button", { type: "submit", class: "send", ...labelled(words.send) }, icon("send"));
    const stop = { type: "button", class: "send", ...labelled(words.stop), hidden: "", onclick: actions.stop };
    this.stopButton = make("button", stop, icon("stop"));
    this.suggestions = make("div", { class: "suggestions", role: "group", "aria-label": words.suggestions });
    this.element = make(
      "section",
      this.attributes(),
      this.makeHeader(),
      log.element,
      this.suggestions,
      this.network,
      this.makeForm(),
    );
    this.followDrops();
  }

  private attributes() {
    const { isInline } = this.options;
    return {
      class: isInline ? "panel inline" : "panel",
      "aria-labelledby": "title",
      role: isInline ? "region" : "dialog",
      "aria-modal": isInline ? undefined : "true",
      onkeydown: (event: KeyboardEvent) => this.onKey(event),
    };
  }

  private makeHeader(): HTMLElement {
    const { words, agentId, isInline } = this.options;
    const button = (name: IconName, label: string, onclick: () => void) =>
      make("button", { type: "button", class: "tool", ...labelled(label), onclick }, icon(name));
    const anew = button("anew", words.anew, this.actions.startAnew);
    const close = isInline ? [] : [button("close", words.close, () => this.close())];
    return make("header", {}, agentMark(agentId), this.heading, anew, ...close);
  }

  private makeInput(): HTMLTextAreaElement {
    const input = make("textarea", {
      rows: "1",
      maxlength: "32000",
      onkeydown: (event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.onSubmit(event);
      },
    });
    input.addEventListener("input", () => this.actions.write(input.value));
    input.addEventListener("paste", (event) => {
      if (this.options.tray.add(event.clipboardData?.files)) event.preventDefault();
    });
    return input;
  }

  private makeForm(): HTMLElement {
    const { tray } = this.options;
    const controls = [tray.button, tray.picker, this.input, this.sendButton, this.stopButton];
    const composer = make("div", { class: "composer" }, ...controls);
    return make("form", { onsubmit: (event) => this.onSubmit(event) }, tray.element, composer);
  }

  private onSubmit(event: Event) {
    event.preventDefault();
    this.actions.submit(this.input.value.trim());
  }

  /** Files may be dropped anywhere on the panel; without this the browser would leave the page. */
  private followDrops() {
    const { tray } = this.options;
    const bringsFiles = (event: DragEvent) => tray.isAllowed && event.dataTransfer?.types.includes("Files");
    const mark = (event: DragEvent, isOver: boolean) => {
      if (!bringsFiles(event)) return;
      event.preventDefault();
      this.element.toggleAttribute("data-drop", isOver);
    };
    this.element.addEventListener("dragover", (event) => mark(event, true));
    this.element.addEventListener("dragleave", (event) => mark(event, false));
    this.element.addEventListener("drop", (event) => {
      mark(event, false);
      if (bringsFiles(event)) tray.add(event.dataTransfer?.files);
    });
  }

  show(look: Look) {
    this.heading.textContent = look.title;
    this.input.placeholder = look.placeholder;
    this.input.setAttribute("aria-label", look.placeholder);
    this.launcher.setAttribute("aria-label", fillIn(this.options.words.open, look));
  }

  /** Questions to begin with, until something was said. */
  showSuggestions(texts: string[]) {
    this.suggestions.hidden = !(this.options.log.isEmpty && texts.length > 0);
    const buttons = texts.map((text) =>
      make("button", { type: "button", class: "suggestion", onclick: () => this.actions.submit(text) }, text),
    );
    this.suggestions.replaceChildren(...buttons);
  }

  showNetwork(text: string) {
    this.network.textContent = text;
  }

  showBusy(isBusy: boolean) {
    this.sendButton.hidden = isBusy;
    this.stopButton.hidden = !isBusy;
    // Read aloud when the answer is whole, not at each word.
    this.options.log.element.setAttribute("aria-busy", String(isBusy));
  }

  private toggle() {
    if (this.element.hidden) this.open(true);
    else this.close();
  }

  open(takesFocus: boolean) {
    this.setOpen(true);
    this.options.log.scrollDown();
    if (takesFocus) this.input.focus();
  }

  close() {
    if (this.options.isInline) return;
    this.setOpen(false);
    this.launcher.focus();
  }

  private setOpen(isOpen: boolean) {
    this.element.hidden = !isOpen;
    this.root.toggleAttribute("data-open", isOpen);
    this.launcher.setAttribute("aria-expanded", String(isOpen));
  }

  private onKey(event: KeyboardEvent) {
    if (this.options.isInline) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close();
    } else if (event.key === "Tab") {
      this.keepFocus(event);
    }
  }

  /** Tab goes round inside the open panel. */
  private keepFocus(event: KeyboardEvent) {
    const selector = "a[href], button:not([disabled]), summary, textarea, [tabindex='0']";
    const found = this.element.querySelectorAll<HTMLElement>(selector);
    const stops = [...found].filter((one) => one.checkVisibility?.() ?? one.offsetParent);
    const edge = event.shiftKey ? stops[0] : stops.at(-1);
    if ((this.element.getRootNode() as ShadowRoot).activeElement === edge) {
      event.preventDefault();
      (event.shiftKey ? stops.at(-1) : stops[0])?.focus();
    }
  }
}

const labelled = (label: string) => ({ "aria-label": label, title: label });
