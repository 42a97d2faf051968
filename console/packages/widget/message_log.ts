import { make } from "@retinue/elements";
import { parseMarkdown } from "@retinue/markdown";
import { domOf } from "@retinue/markdown/dom";
import { fillIn } from "@retinue/words";
import type { WidgetWords } from "@retinue/words/widget";
import { ChatError } from "./chat_error";
import type { CitedSource, Question, StoredFile } from "./chat_types";
import { icon } from "./drawing";

const AT_END_PX = 40;
const MARKS = /\s?\[(\d{1,3}(?:\s?,\s?\d{1,3}){0,20})\]/g;

const withoutMarks = (text: string) => text.replace(MARKS, "");

/** The sources that a text cites, by document: a document with several passages is listed once. */
export function citedDocuments(sources: CitedSource[], text: string): CitedSource[][] {
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
  private failure: HTMLElement | null = null;

  /** `retry` sends a question again and returns whether it is on its way. */
  constructor(
    private readonly words: WidgetWords,
    private readonly retry: (question: Question) => boolean,
  ) {
    this.name = words.title;
    const attributes = { role: "log", "aria-live": "polite", "aria-label": words.messages, tabindex: "0" };
    this.element = make("div", { class: "log", ...attributes });
  }

  get isEmpty() {
    return !this.element.querySelector(".visitor, .failure");
  }

  clear() {
    this.element.replaceChildren();
  }

  add(from: "agent" | "visitor", text: string, files: StoredFile[] = []): HTMLElement {
    const bubble = make("div", { class: `message ${from}` });
    this.fill(bubble, from, text);
    if (files.length) {
      const items = files.map(({ filename }) =>
        make("li", { class: "file" }, icon("page", 16), make("span", { class: "file-name" }, filename)),
      );
      bubble.append(make("ul", { class: "files", "aria-label": this.words.attached }, ...items));
    }
    this.append(bubble);
    return bubble;
  }

  /** A reply that has not begun. */
  addPending(): HTMLElement {
    const dots = make("span", { class: "typing", "aria-hidden": "true" }, make("i"), make("i"), make("i"));
    const speaker = make("span", { class: "speaker" }, `${this.name} ${this.words.typing}`);
    const bubble = make("div", { class: "message agent" }, speaker, dots);
    this.append(bubble);
    return bubble;
  }

  fill(bubble: HTMLElement, from: "agent" | "visitor", text: string) {
    const speaker = make("span", { class: "speaker" }, `${from === "visitor" ? this.words.you : this.name}: `);
    const shown = this.hidesSources ? withoutMarks(text) : text;
    const content = from === "agent" ? domOf(parseMarkdown(shown), this.words) : [make("p", {}, text)];
    bubble.replaceChildren(speaker, ...content);
  }

  /** Show the text of a reply that is being written. */
  stream(bubble: HTMLElement, text: string) {
    const follows = this.isAtEnd;
    this.fill(bubble, "agent", text);
    if (follows) this.scrollDown();
  }

  addNote(bubble: HTMLElement, text: string, name: string): HTMLElement {
    const note = make("p", { class: name, role: "status" }, text);
    bubble.append(note);
    this.scrollDown();
    return note;
  }

  /** Each document that the text cites can be opened: the passages that were read, and the page they are from. */
  addSources(bubble: HTMLElement, sources: CitedSource[] | undefined, text: string) {
    const documents = this.hidesSources ? [] : citedDocuments(sources ?? [], text);
    if (!documents.length) return;
    const title = make("span", { class: "sources-title", "aria-hidden": "true" }, this.words.sources);
    const attributes = { class: "sources", role: "group", "aria-label": this.words.sources };
    bubble.append(make("div", attributes, title, ...documents.map((passages) => this.documentItem(passages))));
    this.scrollDown();
  }

  private documentItem(passages: CitedSource[]): HTMLElement {
    const { document_name: name = "", url = null } = passages[0] ?? {};
    const pages = [...new Set(passages.map(({ page }) => page).filter(Boolean))];
    const page = pages.length ? `, ${fillIn(this.words.page, { page: pages.join(", ") })}` : "";
    const marks = passages.map(({ index }) => `[${index}]`).join(" ");
    const item = make(
      "details",
      { class: "source" },
      make("summary", {}, make("b", {}, marks), ` ${name}${page}`),
      ...passages.map((passage) => make("blockquote", {}, passage.chunk_preview)),
    );
    const isWebPage = /^https?:\/\//.test(url ?? "");
    if (url && isWebPage)
      item.append(make("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, url));
    return item;
  }

  /** Say why a message got no answer, and offer to send it again where that can help; the latest failure counts. */
  addFailure(question: Question, error: unknown) {
    const known = error instanceof ChatError ? error : undefined;
    const text = known ? known.say(this.words) : this.words.failed;
    const notice = make("div", { class: "failure", role: "alert" }, make("span", {}, text));
    let button: HTMLElement | null = null;
    if (!known || known.mayRetry) {
      // What has come of a reply that was cut off stays, with what became of it.
      const again = () => this.retry(question) && known?.message !== "cutOff" && notice.remove();
      button = make("button", { type: "button", class: "quiet", onclick: again }, this.words.retry);
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

  lastOf(from: "agent" | "visitor"): HTMLElement | undefined {
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
