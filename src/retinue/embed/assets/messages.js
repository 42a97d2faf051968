const AT_END_PX = 40;
const MARKS = /\s?\[(\d{1,3}(?:\s?,\s?\d{1,3}){0,20})\]/g;

function withoutMarks(text) {
  return text.replace(MARKS, "");
}

/** The sources that a text cites, by document: a document with several passages is listed once. */
function citedDocuments(sources, text) {
  const cited = new Set([...text.matchAll(MARKS)].flatMap(([, numbers]) => numbers.split(",").map(Number)));
  const documents = new Map();
  for (const source of sources.filter(({ index }) => cited.has(index))) {
    const key = `${source.document_name}\n${source.url ?? ""}`;
    documents.set(key, [...(documents.get(key) ?? []), source]);
  }
  return [...documents.values()];
}

/** The messages of a conversation: a list that is read aloud, and that follows unless someone has scrolled up. */
class MessageLog {
  constructor(words, retry) {
    this.words = words;
    this.retry = retry;
    this.name = words.title;
    this.hidesSources = false;
    this.element = make("div", {
      class: "log", role: "log", "aria-live": "polite", "aria-label": words.messages, tabindex: "0",
    });
  }

  get isEmpty() {
    return !this.element.querySelector(".visitor, .failure");
  }

  clear() {
    this.element.replaceChildren();
  }

  add(from, text, files = []) {
    const bubble = make("div", { class: `message ${from}` });
    this.fill(bubble, from, text);
    if (files.length) {
      bubble.append(make("ul", { class: "files", "aria-label": this.words.attached },
        ...files.map(({ filename }) => make("li", { class: "file" }, icon("page", 16), make("span", { class: "file-name" }, filename)))));
    }
    this.append(bubble);
    return bubble;
  }

  /** A reply that has not begun. */
  addPending() {
    const bubble = make("div", { class: "message agent" },
      make("span", { class: "speaker" }, `${this.name} ${this.words.typing}`),
      make("span", { class: "typing", "aria-hidden": "true" }, make("i"), make("i"), make("i")));
    this.append(bubble);
    return bubble;
  }

  fill(bubble, from, text) {
    const speaker = make("span", { class: "speaker" }, `${from === "visitor" ? this.words.you : this.name}: `);
    const shown = this.hidesSources ? withoutMarks(text) : text;
    const content = from === "agent" ? elementsOf(blockNodes(shown), document) : [make("p", {}, text)];
    bubble.replaceChildren(speaker, ...content);
  }

  /** Show the text of a reply that is being written. */
  stream(bubble, text) {
    const follows = this.isAtEnd;
    this.fill(bubble, "agent", text);
    if (follows) this.scrollDown();
  }

  addNote(bubble, text, name) {
    const note = make("p", { class: name, role: "status" }, text);
    bubble.append(note);
    this.scrollDown();
    return note;
  }

  /** Each document that the text cites can be opened: the passages that were read, and the page they are from. */
  addSources(bubble, sources, text) {
    const documents = this.hidesSources ? [] : citedDocuments(sources ?? [], text);
    if (!documents.length) return;
    const items = documents.map((passages) => {
      const [{ document_name: name, url }] = passages;
      const pages = [...new Set(passages.map(({ page }) => page).filter(Boolean))];
      const page = pages.length ? `, ${fillIn(this.words.page, { page: pages.join(", ") })}` : "";
      const marks = passages.map(({ index }) => `[${index}]`).join(" ");
      const item = make("details", { class: "source" },
        make("summary", {}, make("b", {}, marks), ` ${name}${page}`),
        ...passages.map((passage) => make("blockquote", {}, passage.chunk_preview)));
      const isWebPage = /^https?:\/\//.test(url ?? "");
      if (isWebPage) {
        item.append(make("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, url));
      }
      return item;
    });
    bubble.append(make("div", { class: "sources", role: "group", "aria-label": this.words.sources },
      make("span", { class: "sources-title", "aria-hidden": "true" }, this.words.sources), ...items));
    this.scrollDown();
  }

  /** Say why a message got no answer, and offer to send it again where that can help; the latest failure counts. */
  addFailure(question, error) {
    const isKnown = error instanceof ChatError;
    const text = isKnown ? error.say(this.words) : this.words.failed;
    const notice = make("div", { class: "failure", role: "alert" }, make("span", {}, text));
    let button = null;
    if (!isKnown || error.mayRetry) {
      // What has come of a reply that was cut off stays, with what became of it.
      const again = () => this.retry(question) && error.message !== "cutOff" && notice.remove();
      button = make("button", { type: "button", class: "quiet", onclick: again }, this.words.retry);
      notice.append(button);
    }
    this.append(notice);
    // Where the message stays in the conversation, so does what became of it.
    this.failure = isKnown && error.wasBegun ? button : notice;
  }

  /** What is sent now makes the failure before it a thing of the past: it is not tried again. */
  clearFailure() {
    this.failure?.remove();
    this.failure = null;
  }

  lastOf(from) {
    return [...this.element.querySelectorAll(`.${from}`)].at(-1);
  }

  append(element) {
    this.element.append(element);
    this.scrollDown();
  }

  get isAtEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight < AT_END_PX;
  }

  scrollDown() {
    this.element.scrollTop = this.element.scrollHeight;
  }
}
