import { createElement } from "@retinue/elements";
import { fillPlaceholders } from "@retinue/words";
import type { WidgetWords } from "@retinue/words/widget";
import type { AttachmentTray } from "./attachment_tray";
import { createAgentMark, createWidgetIcon, type IconName } from "./drawing";
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
  private readonly heading = createElement("h2", { id: "title" });
  private readonly suggestions: HTMLElement;
  private readonly network = createElement("p", { class: "offline", role: "status" });

  constructor(
    private readonly root: HTMLElement,
    private readonly options: PanelOptions,
    private readonly actions: PanelActions,
  ) {
    const { words, log } = options;
    const expanded = { "aria-haspopup": "dialog", "aria-expanded": "false" };
    const launch = { type: "button", class: "launcher", ...expanded, onclick: () => this.toggle() };
    this.launcher = createElement("button", launch, createWidgetIcon("chat", 26), createWidgetIcon("down", 26));
    this.input = this.makeInput();
    this.sendButton = createElement(
      "button",
      { type: "submit", class: "send", ...createLabel(words.send) },
      createWidgetIcon("send"),
    );
    const stop = { type: "button", class: "send", ...createLabel(words.stop), hidden: "", onclick: actions.stop };
    this.stopButton = createElement("button", stop, createWidgetIcon("stop"));
    this.suggestions = createElement("div", { class: "suggestions", role: "group", "aria-label": words.suggestions });
    this.element = createElement(
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
    const createHeaderButton = (name: IconName, label: string, onclick: () => void) =>
      createElement(
        "button",
        { type: "button", class: "tool", ...createLabel(label), onclick },
        createWidgetIcon(name),
      );
    const anew = createHeaderButton("anew", words.anew, this.actions.startAnew);
    const close = isInline ? [] : [createHeaderButton("close", words.close, () => this.close())];
    return createElement("header", {}, createAgentMark(agentId), this.heading, anew, ...close);
  }

  private makeInput(): HTMLTextAreaElement {
    const input = createElement("textarea", {
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
    const composer = createElement("div", { class: "composer" }, ...controls);
    return createElement("form", { onsubmit: (event) => this.onSubmit(event) }, tray.element, composer);
  }

  private onSubmit(event: Event) {
    event.preventDefault();
    this.actions.submit(this.input.value.trim());
  }

  /** Files may be dropped anywhere on the panel; without this the browser would leave the page. */
  private followDrops() {
    const { tray } = this.options;
    const dragsFiles = (event: DragEvent) => tray.isAllowed && event.dataTransfer?.types.includes("Files");
    const markDropTarget = (event: DragEvent, isOver: boolean) => {
      if (!dragsFiles(event)) return;
      event.preventDefault();
      this.element.toggleAttribute("data-drop", isOver);
    };
    this.element.addEventListener("dragover", (event) => markDropTarget(event, true));
    this.element.addEventListener("dragleave", (event) => markDropTarget(event, false));
    this.element.addEventListener("drop", (event) => {
      markDropTarget(event, false);
      if (dragsFiles(event)) tray.add(event.dataTransfer?.files);
    });
  }

  show(look: Look) {
    this.heading.textContent = look.title;
    this.input.placeholder = look.placeholder;
    this.input.setAttribute("aria-label", look.placeholder);
    this.launcher.setAttribute("aria-label", fillPlaceholders(this.options.words.open, look));
  }

  /** Questions to begin with, until something was said. */
  showSuggestions(texts: string[]) {
    this.suggestions.hidden = !(this.options.log.isEmpty && texts.length > 0);
    const buttons = texts.map((text) =>
      createElement("button", { type: "button", class: "suggestion", onclick: () => this.actions.submit(text) }, text),
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

const createLabel = (label: string) => ({ "aria-label": label, title: label });
