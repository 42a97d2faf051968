const LOOK = ["title", "greeting", "placeholder", "accent", "on-accent", "scheme", "position", "suggestions"];

/** A button that opens a panel to talk to an agent; with the attribute `inline` the panel alone. */
class RetinueChat extends HTMLElement {
  static observedAttributes = LOOK;

  connectedCallback() {
    if (this.shadowRoot) return;
    this.isInline = this.hasAttribute("inline");
    this.words = wordsFor(this.getAttribute("lang") ?? document.documentElement.lang);
    this.conversation ??= new Conversation({
      baseUrl: this.getAttribute("base-url") ?? OWN_BASE,
      agentId: this.getAttribute("agent-id"),
      apiKey: this.getAttribute("api-key"),
      user: userOf(this),
    });
    const shadow = this.attachShadow({ mode: "open" });
    addStyle(shadow);
    this.accents = new CSSStyleSheet();
    shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, this.accents];
    this.root = make("div", { class: "root" });
    shadow.append(this.root);
    this.log = new MessageLog(this.words, (question) => this.askAgain(question));
    this.unsent = new UnsentMessage(this.conversation);
    this.kept = this.unsent.read();
    this.tray = new AttachmentTray(this.words, this.conversation, () => this.showSendable());
    this.buildPanel();
    this.follow();
    this.start();
  }

  disconnectedCallback() {
    this.sending?.abort();
    this.awaiting?.abort();
    this.listening?.abort();
  }

  attributeChangedCallback() {
    if (this.look) this.showLook();
  }

  /** Another design, as its owner is choosing it. */
  set design(design) {
    this.stored = design;
    if (this.look) this.showLook();
  }

  /** Show the widget once it is known how it looks. */
  async start() {
    this.stored ??= await loadDesign(this.conversation, (refused) => this.withdraw(refused));
    if (this.isWithdrawn) return;
    this.greetingBubble = this.log.add("agent", this.words.greeting);
    this.showLook();
    if (!this.isInline) this.root.append(this.launcher);
    this.root.append(this.panel);
    this.panel.hidden = !this.isInline;
    this.dispatchEvent(new CustomEvent("retinue-ready"));
    this.showUnsent(await this.showEarlier());
  }

  /** What was written before the page was loaded again, a question that the service does not have, and why. */
  showUnsent(messages) {
    const { text, files, asked, failed } = unsentAfter(this.kept, messages);
    this.isUnsentShown = true;
    this.unsent.write({ text, asked: null, failed });
    if (text || files.length) this.putBack({ text, files }, {});
    if (asked) this.putBack(asked, {});
    if (failed) this.log.addFailure({ ...failed, bubble: failed.isPutBack ? null : this.log.lastOf("visitor") }, asError(failed));
    this.showSendable();
  }

  /** Show nothing where the chat cannot work, and tell the page's owner why. */
  withdraw(reason) {
    this.isWithdrawn = true;
    this.root.replaceChildren();
    console.warn(`Retinue: the chat is not shown on ${location.origin}. ${reason}`);
    this.dispatchEvent(new CustomEvent("retinue-refused"));
  }

  /** Follow what changes around the widget: the visitor's scheme and the network. */
  follow() {
    this.listening = new AbortController();
    const { signal } = this.listening;
    this.darkness = matchMedia("(prefers-color-scheme: dark)");
    this.darkness.addEventListener("change", () => this.look && this.showLook(), { signal });
    for (const name of ["online", "offline"]) addEventListener(name, () => this.showNetwork(), { signal });
    this.showNetwork();
  }

  showNetwork() {
    const isOffline = navigator.onLine === false;
    this.offline.textContent = isOffline ? this.words.offline : this.isLost ? this.words.lost : "";
    this.showSendable();
  }

  /** Hear whether the service answers; while it does not, the widget says so and asks on. */
  showReached(isReached) {
    this.isLost = !isReached;
    this.showNetwork();
  }

  /** Ask until the service is back, so that what is said about it stays true. */
  watchService() {
    if (this.watching) return;
    this.watching = untilReachable(this.conversation, this.listening.signal, (isReached) => this.showReached(isReached))
      .catch(() => this.showReached(true))
      .finally(() => { this.watching = null; });
  }

  /** Nothing is sent without a network, and not before the files have arrived. */
  showSendable() {
    this.sendButton.disabled = navigator.onLine === false || this.tray.isUploading;
    // Before that, the files of before are still to be put back.
    if (this.isUnsentShown) this.unsent.write({ files: this.tray.sendable });
  }

  showLook() {
    const look = lookOf(this, this.stored, this.words);
    this.look = look;
    const isDark = look.scheme === "dark" || (look.scheme !== "light" && this.darkness.matches);
    this.root.dataset.scheme = isDark ? "dark" : "light";
    this.root.dataset.position = look.position;
    this.accents.replaceSync(look.accent ? `:host { --accent: ${look.accent}; --on-accent: ${look.onAccent}; }` : "");
    this.heading.textContent = look.title;
    this.log.name = look.title;
    this.log.hidesSources = look.hidesSources;
    this.tray.allow(this.stored?.allow_attachments === true);
    this.input.placeholder = look.placeholder;
    this.input.setAttribute("aria-label", look.placeholder);
    this.launcher.setAttribute("aria-label", fillIn(this.words.open, look));
    this.log.fill(this.greetingBubble, "agent", look.greeting);
    this.showSuggestions();
  }

  /** Questions to begin with, until something was said. */
  showSuggestions() {
    const isShown = this.log.isEmpty && this.look.suggestions.length > 0;
    this.suggestions.hidden = !isShown;
    this.suggestions.replaceChildren(...this.look.suggestions.map((text) =>
      make("button", { type: "button", class: "suggestion", onclick: () => this.submit(text) }, text)));
  }

  /** Show what was said before the page was loaded again, and return it; a chat that cannot be read begins empty. */
  async showEarlier() {
    if (!this.conversation.hasBegunBefore) return [];
    const sessionId = this.conversation.sessionId;
    const messages = await this.conversation.messages().catch(() => []);
    const isOvertaken = this.sending || sessionId !== this.conversation.sessionId || !this.log.isEmpty;
    if (isOvertaken) return messages;
    for (const at of messages.keys()) this.showStored(messages, at);
    this.showSuggestions();
    return messages;
  }

  /** A message of before; one that failed can be sent again if nothing was said after it. */
  showStored(messages, at) {
    const [message, previous, next] = [messages[at], messages[at - 1], messages[at + 1]];
    const isVisitor = message.role === "user";
    if (isVisitor && isRepeated(messages, at)) return;
    const bubble = this.log.add(isVisitor ? "visitor" : "agent", message.content, message.attachments);
    if (!isVisitor) this.log.addSources(bubble, message.sources, message.content);
    if (message.is_waiting) this.awaitDecision(bubble, message.id);
    if (!message.has_failed) return;
    const error = new ChatError(isVisitor ? "unanswered" : "cutOff", { mayRetry: !next, wasBegun: true });
    const asked = isVisitor ? message : previous;
    this.log.addFailure({ text: asked?.content ?? "", files: asked?.attachments ?? [], bubble: isVisitor ? bubble : null }, error);
  }

  buildPanel() {
    const { words } = this;
    const button = (name, label, onclick) =>
      make("button", { type: "button", class: "tool", "aria-label": label, title: label, onclick }, icon(name));
    this.launcher = make("button", {
      type: "button", class: "launcher", "aria-haspopup": "dialog", "aria-expanded": "false", onclick: () => this.toggle(),
    }, icon("chat", 26), icon("down", 26));
    this.heading = make("h2", { id: "title" });
    const header = make("header", {}, agentMark(this.getAttribute("agent-id") ?? ""), this.heading,
      button("anew", words.anew, () => this.startAnew()));
    if (!this.isInline) header.append(button("close", words.close, () => this.close()));
    this.input = make("textarea", { rows: "1", maxlength: "32000", onkeydown: (event) => this.onInputKey(event) });
    this.input.addEventListener("input", () => this.unsent.write({ text: this.input.value }));
    this.input.addEventListener("paste", (event) => this.tray.add(event.clipboardData?.files) && event.preventDefault());
    this.sendButton = make("button", { type: "submit", class: "send", "aria-label": words.send, title: words.send }, icon("send"));
    this.stopButton = make("button", {
      type: "button", class: "send", "aria-label": words.stop, title: words.stop, hidden: "", onclick: () => this.stop(),
    }, icon("stop"));
    this.suggestions = make("div", { class: "suggestions", role: "group", "aria-label": words.suggestions });
    this.offline = make("p", { class: "offline", role: "status" });
    const form = make("form", { onsubmit: (event) => this.onSubmit(event) },
      this.tray.element,
      make("div", { class: "composer" }, this.tray.button, this.tray.picker, this.input, this.sendButton, this.stopButton));
    this.panel = make("section", {
      class: this.isInline ? "panel inline" : "panel", "aria-labelledby": "title",
      role: this.isInline ? "region" : "dialog", "aria-modal": this.isInline ? undefined : "true",
      onkeydown: (event) => this.onPanelKey(event),
    }, header, this.log.element, this.suggestions, this.offline, form);
    this.followDrops();
  }

  /** Files may be dropped anywhere on the panel; without this the browser would leave the page. */
  followDrops() {
    const bringsFiles = (event) => this.tray.isAllowed && event.dataTransfer?.types.includes("Files");
    const mark = (event, isOver) => {
      if (!bringsFiles(event)) return;
      event.preventDefault();
      this.panel.toggleAttribute("data-drop", isOver);
    };
    this.panel.addEventListener("dragover", (event) => mark(event, true));
    this.panel.addEventListener("dragleave", (event) => mark(event, false));
    this.panel.addEventListener("drop", (event) => {
      mark(event, false);
      if (bringsFiles(event)) this.tray.add(event.dataTransfer.files);
    });
  }

  toggle() {
    if (this.panel.hidden) this.open();
    else this.close();
  }

  open({ takesFocus = true } = {}) {
    this.panel.hidden = false;
    this.root.toggleAttribute("data-open", true);
    this.launcher.setAttribute("aria-expanded", "true");
    this.log.scrollDown();
    if (takesFocus) this.input.focus();
  }

  close() {
    if (this.isInline) return;
    this.panel.hidden = true;
    this.root.toggleAttribute("data-open", false);
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
    this.unsent.write({ text: "", files: [], asked: null, failed: null });
    this.conversation.startAnew();
    this.kept = this.unsent.read();
    this.log.clear();
    this.tray.clear();
    this.greetingBubble = this.log.add("agent", this.look.greeting);
    this.showSuggestions();
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
    const found = this.panel.querySelectorAll("a[href], button:not([disabled]), summary, textarea, [tabindex='0']");
    const stops = [...found].filter((one) => one.checkVisibility?.() ?? one.offsetParent);
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
    this.submit(this.input.value.trim());
  }

  submit(message) {
    const text = message || (this.tray.sendable.length ? this.words.seeFiles : "");
    if (!text || this.sending || this.sendButton.disabled) return;
    const files = this.tray.take();
    this.input.value = "";
    this.unsent.write({ text: "" });
    this.input.focus();
    const bubble = this.log.add("visitor", text, files);
    this.showSuggestions();
    this.ask({ text, files, bubble, typed: message });
  }

  /** Send a message that failed again; returns whether it is on its way. */
  askAgain(question) {
    if (this.sending || this.sendButton.disabled) return false;
    if (question.isPutBack && (this.input.value.trim() || this.tray.sendable.length)) {
      this.submit(this.input.value.trim());
      return true;
    }
    if (question.isPutBack) question.bubble = this.log.add("visitor", question.text, question.files);
    this.ask({ ...question, isPutBack: false });
    this.input.focus();
    return true;
  }

  setBusy(controller) {
    this.sending = controller;
    this.sendButton.hidden = Boolean(controller);
    this.stopButton.hidden = !controller;
    // Read aloud when the answer is whole, not at each word.
    this.log.element.setAttribute("aria-busy", controller ? "true" : "false");
  }

  async ask(question) {
    const controller = new AbortController();
    this.log.clearFailure();
    const bubble = this.log.addPending();
    this.unsent.write({ asked: question, failed: null });
    let text = "";
    let isDrawn = true;
    let ended = null;
    const draw = () => {
      isDrawn = true;
      this.log.stream(bubble, text);
    };
    this.setBusy(controller);
    try {
      ended = await this.conversation.say(question, {
        hear: (piece) => {
          text += piece;
          // What stands below the text at its end must not be drawn over.
          if (isDrawn) requestAnimationFrame(() => ended || draw());
          isDrawn = false;
        },
        begin: () => this.unsent.write({ asked: null }),
        report: (isReached) => this.showReached(isReached),
      }, controller.signal);
      if (ended.broken) ({ text, ended } = asEnded(ended.broken, text));
    } catch (error) {
      ended = { failure: await asStored(error, question, text, this.conversation, controller.signal) };
      if (!text) bubble.remove();
    }
    if (text || !ended.failure) draw();
    if (this.isLost && ended.failure?.name === "AbortError") this.showReached(true);
    if (this.sending === controller) this.setBusy(null);
    this.finish(bubble, question, text, ended);
  }

  finish(bubble, question, text, ended) {
    if (ended.failure?.name === "AbortError") {
      if (text && bubble.isConnected) this.log.addNote(bubble, this.words.stopped, "waiting");
    } else if (ended.failure) {
      this.fail(question, ended.failure);
    } else {
      this.log.addSources(bubble, ended.sources, text);
      if (ended.finish_reason === "awaiting_approval") this.awaitDecision(bubble, ended.message_id);
    }
  }

  /** Say why there is no reply. What the service does not have goes back into the field. */
  fail(question, failure) {
    if (failure.message === "unreachable") this.watchService();
    if (!failure.details) this.unsent.write({ failed: asFailed(question, failure) });
    if (failure.wasBegun) return this.log.addFailure(question, failure);
    question.bubble?.remove();
    this.putBack(question, failure);
    if (!failure.details) this.log.addFailure({ ...question, isPutBack: true }, failure);
    this.showSuggestions();
  }

  /** What was typed since then stays as well. */
  putBack(question, failure) {
    this.input.value = putBefore(question.typed ?? question.text, this.input.value);
    this.unsent.write({ text: this.input.value, asked: null });
    if (question.files.length) this.tray.putBack(question.files, failure);
  }

  /** Say that the reply waits for somebody, and show it when it comes. */
  async awaitDecision(bubble, messageId) {
    const controller = new AbortController();
    this.awaiting?.abort();
    this.awaiting = controller;
    const notice = this.log.addNote(bubble, this.words.waiting, "waiting");
    try {
      const reply = await this.conversation.decided(messageId, controller.signal);
      this.log.fill(bubble, "agent", reply.content);
      this.log.addSources(bubble, reply.sources, reply.content);
      if (reply.has_failed) this.log.addNote(bubble, this.words.cutOff, "failure");
      this.log.scrollDown();
    } catch (error) {
      notice.remove();
      if (error.name !== "AbortError") this.log.addNote(bubble, error.say?.(this.words) ?? this.words.failed, "failure");
    } finally {
      if (this.awaiting === controller) this.awaiting = null;
    }
  }
}
