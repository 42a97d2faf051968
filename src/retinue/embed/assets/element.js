const WORDS = {
  title: "Chat",
  greeting: "Hello! How can I help?",
  placeholder: "Write a message",
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
  }

  disconnectedCallback() {
    this.sending?.abort();
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
    const draw = () => {
      isDrawn = true;
      this.fill(bubble, "agent", text);
      this.scrollDown();
    };
    this.setBusy(controller);
    try {
      await this.conversation.say(message, (piece) => {
        text += piece;
        if (isDrawn) requestAnimationFrame(draw);
        isDrawn = false;
      }, controller.signal);
    } catch (error) {
      if (!text) bubble.remove();
      if (error.name !== "AbortError") this.addFailure(message, error);
    } finally {
      if (text) draw();
      if (this.sending === controller) this.setBusy(null);
    }
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
