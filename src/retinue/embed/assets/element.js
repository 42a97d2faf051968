const WORDS = {
  title: "Chat",
  greeting: "Hello! How can I help?",
  placeholder: "Write a message",
  waiting: "This needs someone’s approval. The answer appears here as soon as it is decided.",
  sources: "Sources",
};

/** A button that opens a panel to talk to an agent; with the attribute `inline` the panel alone. */
class RetinueChat extends HTMLElement {
  connectedCallback() {
    if (this.shadowRoot) return;
    this.isInline = this.hasAttribute("inline");
    this.conversation = new Conversation({
      baseUrl: this.getAttribute("base-url") ?? OWN_BASE,
      agentId: this.getAttribute("agent-id"),
      apiKey: this.getAttribute("api-key"),
      user: this.readUser(),
    });
    const root = this.attachShadow({ mode: "open" });
    addStyle(root);
    this.buildPanel();
    if (!this.isInline) {
      this.launcher = make("button", {
        type: "button", class: "launcher", "aria-haspopup": "dialog", "aria-expanded": "false",
        "aria-label": `Open ${this.word("title")}`, onclick: () => this.toggle(),
      });
      root.append(this.launcher);
    }
    root.append(this.panel);
    this.panel.hidden = !this.isInline;
    this.addMessage("agent", this.word("greeting"));
    this.showEarlier();
  }

  disconnectedCallback() {
    this.sending?.abort();
    this.awaiting?.abort();
  }

  /** What was said before the page was loaded again; a chat that cannot be read back begins empty. */
  async showEarlier() {
    if (!this.conversation.hasBegunBefore) return;
    const sessionId = this.conversation.sessionId;
    const messages = await this.conversation.messages().catch(() => []);
    const isOvertaken = this.sending || sessionId !== this.conversation.sessionId || this.log.children.length > 1;
    if (isOvertaken) return;
    for (const message of messages) {
      const bubble = this.addMessage(message.role === "user" ? "visitor" : "agent", message.content);
      if (message.role === "user") continue;
      this.addSources(bubble, message.sources);
      if (message.is_waiting) this.awaitDecision(bubble, message.id);
    }
  }

  word(name) {
    return this.getAttribute(name) ?? WORDS[name];
  }

  readUser() {
    const user = {};
    for (const name of ["id", "name", "email", "hash"]) {
      const value = this.getAttribute(`user-${name}`);
      if (value) user[name] = value;
    }
    return Object.keys(user).length ? user : null;
  }

  buildPanel() {
    this.log = make("div", { class: "log", role: "log", "aria-live": "polite", "aria-label": "Messages", tabindex: "0" });
    this.input = make("textarea", {
      rows: "1", maxlength: "32000", placeholder: this.word("placeholder"), "aria-label": this.word("placeholder"),
      onkeydown: (event) => this.onInputKey(event),
    });
    this.sendButton = make("button", { type: "submit", class: "send" }, "Send");
    this.stopButton = make("button", { type: "button", class: "send", hidden: "", onclick: () => this.stop() }, "Stop");
    const heading = make("header", {}, make("h2", { id: "title" }, this.word("title")),
      make("button", { type: "button", class: "plain", onclick: () => this.startAnew() }, "New"));
    if (!this.isInline) {
      heading.append(make("button", { type: "button", class: "plain", "aria-label": "Close", onclick: () => this.close() }, "✕"));
    }
    const form = make("form", { onsubmit: (event) => this.onSubmit(event) }, this.input, this.sendButton, this.stopButton);
    this.panel = make("section", {
      class: this.isInline ? "panel inline" : "panel", "aria-labelledby": "title",
      role: this.isInline ? "region" : "dialog", "aria-modal": this.isInline ? undefined : "true",
      onkeydown: (event) => this.onPanelKey(event),
    }, heading, this.log, form);
  }

  toggle() {
    if (this.panel.hidden) this.open();
    else this.close();
  }

  open() {
    this.panel.hidden = false;
    this.launcher?.setAttribute("aria-expanded", "true");
    this.input.focus();
  }

  close() {
    if (this.isInline) return;
    this.panel.hidden = true;
    this.launcher.setAttribute("aria-expanded", "false");
    this.launcher.focus();
  }

  stop() {
    this.sending?.abort();
    this.input.focus();
  }

  startAnew() {
    this.stop();
    this.awaiting?.abort();
    this.conversation.startAnew();
    this.log.replaceChildren();
    this.addMessage("agent", this.word("greeting"));
  }

  onPanelKey(event) {
    if (this.isInline) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close();
    } else if (event.key === "Tab") {
      this.keepFocus(event);
    }
  }

  /** Tab goes round inside the open panel. */
  keepFocus(event) {
    const stops = [...this.panel.querySelectorAll("a[href], button:not([hidden]):not([disabled]), textarea, [tabindex='0']")];
    const edge = event.shiftKey ? stops[0] : stops.at(-1);
    if (this.shadowRoot.activeElement === edge) {
      event.preventDefault();
      (event.shiftKey ? stops.at(-1) : stops[0]).focus();
    }
  }

  onInputKey(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.onSubmit(event);
  }

  onSubmit(event) {
    event.preventDefault();
    const message = this.input.value.trim();
    if (!message || this.sending) return;
    this.input.value = "";
    this.input.focus();
    this.addMessage("visitor", message);
    this.ask(message);
  }

  addMessage(from, text) {
    const bubble = make("div", { class: `message ${from}` });
    this.fill(bubble, from, text);
    this.log.append(bubble);
    this.scrollDown();
    return bubble;
  }

  /** Each source can be opened: the passage that was read, and the page it is from. */
  addSources(bubble, sources) {
    if (!sources?.length) return;
    const items = sources.map((source) => {
      const place = source.page ? `${source.document_name}, page ${source.page}` : source.document_name;
      const item = make("details", { class: "source" }, make("summary", {}, `[${source.index}] ${place}`),
        make("blockquote", {}, source.chunk_preview));
      const isWebPage = /^https?:\/\//.test(source.url ?? "");
      if (isWebPage) {
        item.append(make("a", { href: source.url, target: "_blank", rel: "noopener noreferrer nofollow" }, source.url));
      }
      return item;
    });
    bubble.append(make("div", { class: "sources", role: "group", "aria-label": this.word("sources") }, ...items));
    this.scrollDown();
  }

  /** Say that the reply waits for somebody, and show it when it comes. */
  async awaitDecision(bubble, messageId) {
    const controller = new AbortController();
    this.awaiting?.abort();
    this.awaiting = controller;
    const notice = make("p", { class: "waiting", role: "status" }, this.word("waiting"));
    bubble.append(notice);
    this.scrollDown();
    try {
      const reply = await this.conversation.decided(messageId, controller.signal);
      this.fill(bubble, "agent", reply.content);
      this.addSources(bubble, reply.sources);
      this.scrollDown();
    } catch (error) {
      notice.remove();
      if (error.name !== "AbortError") bubble.append(make("p", { class: "failure" }, error.message));
    } finally {
      if (this.awaiting === controller) this.awaiting = null;
    }
  }

  fill(bubble, from, text) {
    const speaker = make("span", { class: "speaker" }, from === "visitor" ? "You: " : `${this.word("title")}: `);
    const content = from === "agent" ? elementsOf(blockNodes(text), document) : [make("p", {}, text)];
    bubble.replaceChildren(speaker, ...content);
  }

  scrollDown() {
    this.log.scrollTop = this.log.scrollHeight;
  }

  setBusy(controller) {
    this.sending = controller;
    this.sendButton.hidden = Boolean(controller);
    this.stopButton.hidden = !controller;
    // Read aloud when the answer is whole, not at each word.
    this.log.setAttribute("aria-busy", controller ? "true" : "false");
  }

  async ask(message) {
    const controller = new AbortController();
    const bubble = this.addMessage("agent", "…");
    let text = "";
    let isDrawn = true;
    let ended = null;
    const draw = () => {
      isDrawn = true;
      this.fill(bubble, "agent", text);
      this.scrollDown();
    };
    this.setBusy(controller);
    try {
      ended = await this.conversation.say(message, (piece) => {
        text += piece;
        // What stands below the text at its end must not be drawn over.
        if (isDrawn) requestAnimationFrame(() => ended || draw());
        isDrawn = false;
      }, controller.signal);
    } catch (error) {
      if (!text) bubble.remove();
      if (error.name !== "AbortError") this.addFailure(message, error);
    } finally {
      if (text || ended) draw();
      if (this.sending === controller) this.setBusy(null);
    }
    if (!ended) return;
    this.addSources(bubble, ended.sources);
    if (ended.finish_reason === "awaiting_approval") this.awaitDecision(bubble, ended.message_id);
  }

  addFailure(message, error) {
    const isKnown = error instanceof ChatError;
    const notice = make("div", { class: "failure", role: "alert" }, isKnown ? error.message : "Something went wrong.");
    if (!isKnown || error.mayRetry) {
      notice.append(make("button", {
        type: "button", class: "plain",
        onclick: () => {
          if (this.sending) return;
          notice.remove();
          this.ask(message);
          this.input.focus();
        },
      }, "Try again"));
    }
    this.log.append(notice);
    this.scrollDown();
  }
}
