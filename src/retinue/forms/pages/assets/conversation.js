// A label with a separator or a conjunction is sent as JSON, so that the server does not split it.
const LISTS = /[,;+&\n[]|\b(and|und|or|et|y)\b/i;
const MAX_BUTTONS = 30;
const BACK = "The server can be reached again. Your answer is not sent yet.";

/** A form filled in by conversation: one question at a time, with buttons for choices. */
class ConversationView {
  constructor({ form, server, onEnd, onForm }) {
    Object.assign(this, { form, server, onEnd, onForm });
    this.fields = new Map(form.fields.map((field) => [field.id, field]));
    this.storage = new TabStorage(`retinue-form:${form.slug}`);
    this.unsent = new UnsentAnswer(`retinue-form:${form.slug}:unsent`);
    this.element = this.draw();
    this.begin();
  }

  draw() {
    this.log = make("div", { class: "log", role: "log", "aria-label": "Conversation", tabindex: "0" });
    this.progress = make("p", { class: "hint", role: "status" });
    this.choices = make("div", { class: "buttons" });
    this.input = make("textarea", {
      rows: "1", placeholder: "Write your answer", "aria-label": "Your answer",
      onkeydown: (event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.onSubmit(event);
      },
    });
    this.input.addEventListener("input", () => this.unsent.write({ text: this.input.value }));
    this.button = make("button", { type: "submit", class: "send" }, "Send");
    this.formElement = make("form", { class: "say", onsubmit: (event) => this.onSubmit(event) }, this.input, this.button);
    this.asForm = make("button", { type: "button", class: "quiet", onclick: () => this.leave() }, "Fill in as a form instead");
    return make("div", { class: "talk" }, this.progress, this.log, this.choices, this.formElement, this.asForm);
  }

  hidden() {
    const given = this.form.fields.filter(({ type }) => type === "hidden").map(({ id }) => [id, addressParameter(id)]);
    return Object.fromEntries(given.filter(([, value]) => value !== null));
  }

  /** Continue the conversation of this tab, or start one. */
  async begin() {
    const known = this.storage.read();
    await this.busily(async () => {
      const data = (known && await this.continued(known)) || await this.started();
      this.storage.write(data.id);
      this.path = `/conversations/${encodeURIComponent(data.id)}`;
      this.hear(data);
      this.showUnsent();
    }, () => this.begin());
    if (this.path && this.isEarly) this.send();
  }

  async started() {
    const { token, settings } = this.form;
    const proof = token && settings.proof_of_work ? await prove(token, settings.proof_of_work) : undefined;
    const body = { prefill: this.hidden(), metadata: originOfAnswers("conversation"), language: navigator.language, token, proof };
    return (await this.server.call("/conversations", { method: "POST", body })).data;
  }

  /** The conversation of before a reload; null if it is over. A server that does not answer has not ended it. */
  async continued(id) {
    const path = `/conversations/${encodeURIComponent(id)}`;
    try {
      const { data } = await this.server.call(path);
      if (data.status !== "active") return null;
      const { data: messages } = await this.server.call(`${path}/messages`);
      for (const { role, content } of messages) this.add(role, content);
      this.lastAnswer = messages.findLast(({ role }) => role === "user")?.content;
      return data;
    } catch (error) {
      if (!error.status || error.status >= 500 || error.status === 429) throw error;
      return null;
    }
  }

  /** What was written before a reload, or an answer of which nobody knows whether it arrived. */
  showUnsent() {
    const { text = "", asked } = this.unsent.read();
    const isMissing = asked && asked !== this.lastAnswer;
    if (!this.input.value) this.input.value = isMissing ? asked : text;
    this.unsent.write({ text: this.input.value, asked: null });
  }

  onSubmit(event) {
    event.preventDefault();
    // An answer given before the first question arrives is sent right after it.
    if (this.path) this.send();
    else this.isEarly = true;
  }

  send() {
    this.isEarly = false;
    const content = this.input.value.trim();
    if (content) this.say({ content });
  }

  async say({ content, shown = content, fileIds = [] }) {
    if (this.isBusy || !this.path) return;
    this.input.value = "";
    // A file or a signature is attached again, so only what was written is kept.
    const isWritten = !fileIds.length && shown === content;
    this.unsent.write({ text: "", asked: isWritten ? content : null });
    this.choices.replaceChildren();
    this.add("user", shown);
    // Only files name their field; written text may be about any field.
    await this.ask({ content, file_ids: fileIds, field_id: fileIds.length ? this.field?.id : undefined });
  }

  /** Without a response, retry with the same idempotency key, so that a message is not stored twice. */
  async ask(body, key = randomId()) {
    await this.busily(async () => {
      const headers = { "Idempotency-Key": key };
      const { data } = await this.server.call(`${this.path}/messages`, { method: "POST", body, headers });
      this.unsent.write({ asked: null });
      this.hear(data);
    }, (error) => this.ask(body, error.status ? undefined : key));
  }

  /** `aria-busy` makes screen readers wait until the reply is complete. */
  async busily(work, again) {
    this.isBusy = true;
    this.button.setAttribute("aria-disabled", "true");
    this.log.setAttribute("aria-busy", "true");
    try {
      await work();
    } catch (error) {
      this.fail(error, again);
    }
    this.log.setAttribute("aria-busy", "false");
    this.button.removeAttribute("aria-disabled");
    this.isBusy = false;
  }

  hear({ assistant_message: message, fields_completed: done, fields_total: all, form_completed: isSent, status, input, ...rest }) {
    this.progress.textContent = `${done} of ${all} answered`;
    if (message) this.add("assistant", message.content);
    if (status !== "active") {
      this.storage.write(null);
      for (const part of [this.formElement, this.choices, this.asForm]) part.remove();
      if (isSent) this.onEnd(rest);
      this.log.focus();
      return;
    }
    this.field = this.fields.get(input?.field_id);
    this.offer(input);
    this.scrollDown();
    this.input.focus({ preventScroll: true });
  }

  add(role, text) {
    const speaker = make("span", { class: "unseen" }, role === "user" ? "You: " : "Question: ");
    const shown = role === "user" && text.startsWith("data:image/") ? "(signature)" : text;
    this.log.append(make("div", { class: `message ${role}` }, speaker, make("p", { class: "plain" }, shown)));
    this.scrollDown();
  }

  scrollDown() {
    this.log.scrollTop = this.log.scrollHeight;
  }

  fail(error, again) {
    const isClosed = error.code === "conversation_closed";
    const retry = () => {
      notice.remove();
      if (isClosed) this.begin();
      else again(error);
    };
    const text = make("p", {}, toldOf(error));
    const notice = make("div", { class: "message problem", role: "alert" }, text,
      make("button", { type: "button", class: "quiet", onclick: retry }, isClosed ? "Start again" : "Try again"));
    this.log.append(notice);
    this.scrollDown();
    if (error.message === UNREACHABLE) this.server.whenBack(() => notice.isConnected).then(() => { text.textContent = BACK; });
  }

  /** Switch to the form and take the answers along. */
  async leave() {
    this.storage.write(null);
    const { data } = this.path ? await this.server.call(this.path).catch(() => ({})) : {};
    if (this.path) this.server.call(`${this.path}/cancel`, { method: "POST" }).catch(() => {});
    this.onForm(data?.collected_data ?? {});
  }

  /** Offer buttons and controls for the current question. */
  offer(input) {
    this.choices.replaceChildren();
    if (!input) return;
    const options = input.options.map(({ value, label }) => ({ value, label: String(label ?? value) }));
    if (input.type === "confirm" || input.type === "checkbox") this.offerButtons([["Yes", "yes"], ["No", "no"]]);
    else if (input.type === "file" || input.type === "signature") this.offerView(VIEWS[input.type]);
    else if (input.type === "rating") this.offerButtons(Array.from({ length: Math.min(10, this.field?.validation?.max ?? 5) }, (_, at) => [at + 1, String(at + 1)]));
    else if (options.length && options.length <= MAX_BUTTONS) {
      if (input.type === "multi_select" || input.type === "checkbox_group") this.offerBoxes(options);
      else this.offerButtons(options.map(({ label }) => [label, label]));
    }
    if (!input.required && input.field_id) this.offerButtons([["Skip", "skip"]]);
  }

  pill(label, onclick) {
    return make("button", { type: "button", class: "pill", onclick }, label);
  }

  offerButtons(pairs) {
    this.choices.append(...pairs.map(([label, content]) => this.pill(label, () => this.say({ content, shown: String(label) }))));
  }

  offerBoxes(options) {
    const boxes = options.map(() => make("input", { type: "checkbox" }));
    const choose = () => {
      const chosen = options.filter((_, at) => boxes[at].checked);
      if (!chosen.length) return;
      const shown = chosen.map(({ label }) => label).join(", ");
      const isPlain = !chosen.some(({ label }) => LISTS.test(label));
      this.say({ content: isPlain ? shown : JSON.stringify(chosen.map(({ value }) => value)), shown });
    };
    this.choices.append(...options.map(({ label }, at) => make("label", { class: "choice" }, boxes[at], make("span", {}, label))),
      this.pill("Choose these", choose));
  }

  /** Offer a control of the form, for files and signatures. */
  offerView(View) {
    const view = new View({ ...this.field, label: this.field.label || "Your answer" }, "talk", { server: this.server, onChange: () => {} });
    const send = async () => {
      await view.settled?.();
      const value = view.value();
      if (!value) view.focus();
      else if (View === FileView) {
        const names = view.files.map((one) => one.element.querySelector(".name").textContent).join(", ");
        this.say({ content: names, fileIds: [value].flat() });
      } else this.say({ content: value, shown: view.drawn ? "(signature)" : value });
    };
    this.choices.append(view.element, this.pill(View === FileView ? "Send the file" : "Sign", send));
  }
}

/** What was written in a conversation and is not known to have arrived, kept for the tab. */
class UnsentAnswer {
  constructor(name) {
    this.storage = new TabStorage(name);
  }

  read() {
    return readJson(this.storage.read()) ?? {};
  }

  write(part) {
    const kept = { ...this.read(), ...part };
    this.storage.write(kept.text || kept.asked ? JSON.stringify(kept) : null);
  }
}

/** A value that survives a reload of the tab, if the page has storage. */
class TabStorage {
  constructor(name) {
    this.name = name;
  }

  read() {
    try {
      return sessionStorage.getItem(this.name);
    } catch {
      return null;
    }
  }

  write(value) {
    try {
      if (value === null) sessionStorage.removeItem(this.name);
      else sessionStorage.setItem(this.name, value);
    } catch {
      // Without storage, a reload starts again.
    }
  }
}
