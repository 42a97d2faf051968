const VIEWS = {
  text: TextView, textarea: TextView, email: TextView, phone: TextView, url: TextView, number: TextView,
  select: SelectView, multi_select: GroupView, checkbox_group: GroupView, radio: GroupView, rating: RatingView,
  checkbox: CheckboxView, date: DateView, datetime: DateView, file: FileView, hidden: HiddenView,
  section: SectionView, paragraph: ParagraphView, signature: SignatureView, slider: SliderView,
};

/** URL parameters with a meaning of their own; they fill in no field. */
const OWN_PARAMETERS = ["embed", "preview", "session", "v"];

function addressParameter(name) {
  return OWN_PARAMETERS.includes(name) ? null : new URLSearchParams(location.search).get(name);
}

/** Return the origin of a submission for its metadata; URLs without queries, which may contain secrets. */
function originOfAnswers(kind) {
  const page = location.origin + location.pathname;
  const metadata = { source: (addressParameter("utm_source") || kind).slice(0, 100), page_url: page.slice(0, 1000) };
  if (document.referrer) metadata.referrer = document.referrer.split(/[?#]/)[0].slice(0, 1000);
  return metadata;
}

/** A form to fill in and send. */
class FormView {
  constructor({ form, server, kind, headingLevel, sessionId, isPreview, answers, onDone }) {
    Object.assign(this, { form, server, kind, headingLevel, onDone });
    this.fetchToken(form.token);
    const Classes = form.fields.map((field) => VIEWS[field.type]);
    this.views = form.fields.map((field, at) => new Classes[at](field, `field-${at}`, this));
    this.saver = new Saver(server, () => this.answers(), { sessionId, isQuiet: isPreview });
    this.element = this.draw();
    this.fillIn();
    this.take(answers);
    if (sessionId) this.resume();
  }

  /** Return the tag of a heading this many levels below the form's name. */
  headingTag(below) {
    return `h${Math.min(6, this.headingLevel + below)}`;
  }

  fetchToken(token) {
    this.token = token;
    const bits = this.form.settings.proof_of_work;
    this.proof = token && bits ? prove(token, bits) : undefined;
  }

  draw() {
    const { settings, fields } = this.form;
    this.summary = make("div", { class: "summary", role: "alert", tabindex: "-1" });
    this.button = make("button", { type: "submit", class: "send" }, settings.submit_button_text || "Send");
    this.note = make("div", { class: "later", role: "status" });
    const later = make("button", { type: "button", class: "quiet", onclick: () => this.keep() }, "Save and continue later");
    this.formElement = make("form", { novalidate: "", onsubmit: (event) => this.onSubmit(event) },
      ...(fields.some((field) => field.required) ? [make("p", { class: "hint" }, "Fields marked with * are required.")] : []),
      ...this.views.map((view) => view.element), ...this.trap(), this.button, later, this.note);
    return make("div", {}, this.summary, this.formElement);
  }

  /** The honeypot: people neither see nor reach it, bots fill it in. */
  trap() {
    const name = this.form.settings.honeypot;
    if (!name || this.form.fields.some((field) => field.id === name)) return [];
    this.trapInput = make("input", { type: "text", name, tabindex: "-1", autocomplete: "off" });
    return [make("div", { class: "unseen", "aria-hidden": "true" }, make("label", {}, "Leave this empty", this.trapInput))];
  }

  fillIn() {
    for (const view of this.views) {
      const { type, id, default_value: usual } = view.field;
      const given = type === "hidden" ? addressParameter(id) ?? usual : usual;
      if (view.isAsked && given !== undefined && given !== null) view.set(given);
    }
  }

  /** Fill in answers given before. */
  take(answers) {
    for (const view of this.views) {
      const { id, type } = view.field;
      if (view.isAsked && type !== "hidden" && Object.hasOwn(answers, id)) view.set(answers[id]);
    }
    this.showFields();
  }

  async resume() {
    try {
      this.take((await this.server.saved(this.saver.sessionId)).data);
    } catch (error) {
      this.saver.isKept = false;
      this.saver.sessionId = randomId();
      this.show([404, 422].includes(error.status) ? "Nothing is saved under this link any more. The form is empty." : toldOf(error), []);
    }
  }

  async keep() {
    try {
      const url = await this.saver.keep();
      const field = make("input", { type: "text", readonly: "", value: url, "aria-label": "Link to come back", onfocus: () => field.select() });
      this.note.replaceChildren(make("p", {}, "Saved for a week. Come back with this link, and keep it to yourself:"), field);
    } catch (error) {
      this.note.replaceChildren(make("p", { class: "problem" }, toldOf(error)));
    }
  }

  onChange(view) {
    view.mark("");
    this.showFields();
    this.saver.touch(view.field.id);
  }

  showFields() {
    const values = new Map();
    for (const view of this.views) {
      const value = view.isAsked ? view.seen() : undefined;
      if (value !== undefined) values.set(view.field.id, value);
    }
    this.shown = visibleFields(this.form.fields, values);
    for (const view of this.views) {
      view.element.hidden = view.field.type === "hidden" || !this.shown.has(view.field.id);
    }
  }

  answers() {
    const asked = this.views.filter((view) => view.isAsked && this.shown.has(view.field.id));
    const entries = asked.map((view) => [view.field.id, view.value()]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  }

  async body() {
    // The first progress report must not arrive after the submission.
    await Promise.all([this.saver.began, ...this.views.map((view) => view.settled?.())]);
    const data = this.answers();
    if (this.trapInput?.value) data[this.form.settings.honeypot] = this.trapInput.value;
    const sessionId = this.saver.lastFieldId ? this.saver.sessionId : undefined;
    return { data, metadata: originOfAnswers(this.kind), session_id: sessionId, token: this.token, proof: await this.proof };
  }

  async onSubmit(event) {
    event.preventDefault();
    if (this.button.hasAttribute("aria-disabled")) return;
    // Not `disabled`, which would remove the focus.
    this.button.setAttribute("aria-disabled", "true");
    this.show("", []);
    for (const view of this.views) view.mark("");
    try {
      const answer = await this.send();
      this.saver.stop();
      this.onDone(answer);
    } catch (error) {
      this.refuse(error);
    }
    this.button.removeAttribute("aria-disabled");
  }

  /** Submit; if the form was open for a day, fetch a new token without bothering the visitor. */
  async send() {
    try {
      return await this.server.submit(await this.body());
    } catch (error) {
      const isStale = error.errors?.some(({ field, message }) => field === "token" && message.includes("fetch the form again"));
      if (!isStale) throw error;
      this.fetchToken((await this.server.form(true)).token);
      return this.server.submit(await this.body());
    }
  }

  refuse(error) {
    const known = new Map(this.views.map((view) => [view.field.id, view]));
    const wrong = (error.errors ?? []).filter(({ field }) => known.has(field));
    const rest = (error.errors ?? []).filter(({ field }) => !known.has(field));
    const items = wrong.map(({ field, message }) => {
      const view = known.get(field);
      view.mark(message);
      const jump = (event) => {
        event.preventDefault();
        view.focus();
      };
      return make("a", { href: `#${view.id}`, onclick: jump }, `${view.name} ${message}`);
    });
    items.push(...rest.map(({ field, message }) => (field === "token" ? message : `${field} ${message}`)));
    this.show(items.length ? "Please look at this again:" : toldOf(error), items);
    if (wrong.length) known.get(wrong[0].field).focus();
    else this.summary.focus();
  }

  show(text, items) {
    const list = items.length ? [make("ul", {}, ...items.map((item) => make("li", {}, item)))] : [];
    this.summary.replaceChildren(...(text ? [make("p", {}, text)] : []), ...list);
  }
}
