import { createElement } from "@retinue/elements";
import { parseMarkdown } from "@retinue/markdown";
import { renderMarkdownNodes } from "@retinue/markdown/dom";
import { fillPlaceholders } from "@retinue/words";
import type { WidgetWords } from "@retinue/words/widget";
import { ChatError } from "./chat_error";
import type { CitedSource, Question, StoredFile } from "./chat_types";
import { createWidgetIcon } from "./drawing";

const AT_END_PX = 40;
const MARKS = /\s?\[(\d{1,3}(?:\s?,\s?\d{1,3}){0,20})\]/g;

const stripCitationMarks = (text: string) => text.replace(MARKS, "");

/** The sources that a text cites, by document: a document with several passages is listed once. */
export function groupCitedDocuments(sources: CitedSource[], text: string): CitedSource[][] {
  const cited = new Set([...text.matchAll(MARKS)].flatMap(([, numbers = ""]) => numbers.split(",").map(Number)));
  const documents = new Map<string, CitedSource[]>();
  for (const source of sources.filter(({ index }) => cited.has(index))) {
    const key = `${source.document_name}\n${source.url ?? ""}`;
    documents.set(key, [...(documents.get(key) ?? []), source]);
  }
  return [...documents.values()];
}

/** The messages of a conversation: a list that is read aloud, and that follows unless someone has scrolled up. */
export class MessageLog {
  readonly element: HTMLElement;
  name: string;
  hidesSources = false;
  /** Hears the text of a reply that is being written, and its end. */
  onWritten?: (text: string, ended?: { bubble: HTMLElement; messageId: string | undefined }) => void;
  private failure: HTMLElement | null = null;

  /** `retry` sends a question again and returns whether it is on its way. */
  constructor(
    private readonly words: WidgetWords,
    private readonly retry: (question: Question) => boolean,
  ) {
    this.name = words.title;
    const attributes = { role: "log", "aria-live": "polite", "aria-label": words.messages, tabindex: "0" };
    this.element = createElement("div", { class: "log", ...attributes });
  }

  get isEmpty() {
    return !this.element.querySelector(".visitor, .failure");
  }

  clear() {
    this.element.replaceChildren();
  }

  add(from: "agent" | "visitor", text: string, files: StoredFile[] = []): HTMLElement {
    const bubble = createElement("div", { class: `message ${from}` });
    this.fillBubble(bubble, from, text);
    if (files.length) {
      const items = files.map(({ filename }) =>
        createElement(
          "li",
          { class: "file" },
          createWidgetIcon("page", 16),
          createElement("span", { class: "file-name" }, filename),
        ),
      );
      bubble.append(createElement("ul", { class: "files", "aria-label": this.words.attached }, ...items));
    }
    this.append(bubble);
    return bubble;
  }

  /** A reply that has not begun. */
  addPending(): HTMLElement {
    const dots = createElement(
      "span",
      { class: "typing", "aria-hidden": "true" },
      createElement("i"),
      createElement("i"),
      createElement("i"),
    );
    const speaker = createElement("span", { class: "speaker" }, `${this.name} ${this.words.typing}`);
    const bubble = createElement("div", { class: "message agent" }, speaker, dots);
    this.append(bubble);
    return bubble;
  }

  fillBubble(bubble: HTMLElement, from: "agent" | "visitor", text: string) {
    const speaker = createElement("span", { class: "speaker" }, `${from === "visitor" ? this.words.you : this.name}: `);
    const shown = this.hidesSources ? stripCitationMarks(text) : text;
    const content =
      from === "agent" ? renderMarkdownNodes(parseMarkdown(shown), this.words) : [createElement("p", {}, text)];
    bubble.replaceChildren(speaker, ...content);
  }

  /** Show the text of a reply that is being written. */
  streamText(bubble: HTMLElement, text: string) {
    const follows = this.isAtEnd;
    this.fillBubble(bubble, "agent", text);
    this.onWritten?.(text);
    if (follows) this.scrollDown();
  }

  addNote(bubble: HTMLElement, text: string, name: string): HTMLElement {
    const note = createElement("p", { class: name, role: "status" }, text);
    bubble.append(note);
    this.scrollDown();
    return note;
  }

  /** Each document that the text cites can be opened: the passages that were read, and the page they are from. */
  addSources(bubble: HTMLElement, sources: CitedSource[] | undefined, text: string, messageId?: string) {
    const documents = this.hidesSources ? [] : groupCitedDocuments(sources ?? [], text);
    if (documents.length) this.addDocuments(bubble, documents);
    this.onWritten?.(text, { bubble, messageId });
  }

  private addDocuments(bubble: HTMLElement, documents: CitedSource[][]) {
    const title = createElement("span", { class: "sources-title", "aria-hidden": "true" }, this.words.sources);
    const attributes = { class: "sources", role: "group", "aria-label": this.words.sources };
    bubble.append(
      createElement("div", attributes, title, ...documents.map((passages) => this.createDocumentItem(passages))),
    );
    this.scrollDown();
  }

  private createDocumentItem(passages: CitedSource[]): HTMLElement {
    const { document_name: name = "", url = null } = passages[0] ?? {};
    const pages = [...new Set(passages.map(({ page }) => page).filter(Boolean))];
    const page = pages.length ? `, ${fillPlaceholders(this.words.page, { page: pages.join(", ") })}` : "";
    const marks = passages.map(({ index }) => `[${index}]`).join(" ");
    const item = createElement(
      "details",
      { class: "source" },
      createElement("summary", {}, createElement("b", {}, marks), ` ${name}${page}`),
      ...passages.map((passage) => createElement("blockquote", {}, passage.chunk_preview)),
    );
    const isWebPage = /^https?:\/\//.test(url ?? "");
    if (url && isWebPage)
      item.append(createElement("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, url));
    return item;
  }

  /** Say why a message got no answer, and offer to send it again where that can help; the latest failure counts. */
  addFailure(question: Question, error: unknown) {
    const known = error instanceof ChatError ? error : undefined;
    const text = known ? known.describe(this.words) : this.words.failed;
    const notice = createElement("div", { class: "failure", role: "alert" }, createElement("span", {}, text));
    let button: HTMLElement | null = null;
    if (!known || known.mayRetry) {
      // What has come of a reply that was cut off stays, with what became of it.
      const retryQuestion = () => this.retry(question) && known?.message !== "cutOff" && notice.remove();
      button = createElement("button", { type: "button", class: "quiet", onclick: retryQuestion }, this.words.retry);
      notice.append(button);
    }
    this.append(notice);
    // Where the message stays in the conversation, so does what became of it.
    this.failure = known?.wasBegun ? button : notice;
  }

  /** What is sent now makes the failure before it a thing of the past: it is not tried again. */
  clearFailure() {
    this.failure?.remove();
    this.failure = null;
  }

  findLastMessage(from: "agent" | "visitor"): HTMLElement | undefined {
    return [...this.element.querySelectorAll<HTMLElement>(`.${from}`)].at(-1);
  }

  private append(element: HTMLElement) {
    this.element.append(element);
    this.scrollDown();
  }

  private get isAtEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight < AT_END_PX;
  }

  scrollDown() {
    this.element.scrollTop = this.element.scrollHeight;
  }
}
