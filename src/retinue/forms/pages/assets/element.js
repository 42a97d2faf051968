/** Return the relative luminance of a colour, from 0 to 1. */
function brightness([red, green, blue]) {
  const [r, g, b] = [red, green, blue].map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Parse `#abc` or `#aabbcc` into three numbers, ignoring transparency; null for anything else. */
function colourOf(text) {
  if (typeof text !== "string" || !/^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(text)) return null;
  const digits = text.length < 6 ? [...text.slice(1, 4)].map((one) => one + one) : text.slice(1, 7).match(/../g);
  return digits.map((pair) => Number.parseInt(pair, 16));
}

/** Return an absolute http or https URL, or null; paths are relative to our server. */
function webAddress(text, baseUrl) {
  try {
    const url = new URL(text, `${baseUrl}/`);
    return ["http:", "https:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** The session ids the server accepts. */
const SESSION = /^[A-Za-z0-9_-]{16,128}$/;

/** A form of Retinue: `<retinue-form form="slug" base-url="…">`. */
class RetinueForm extends HTMLElement {
  connectedCallback() {
    if (this.shadowRoot) return;
    this.baseUrl = this.getAttribute("base-url") ?? OWN_BASE;
    this.kind = this.getAttribute("kind") ?? "embed";
    const isOwnPage = this.kind !== "embed";
    this.headingLevel = Number(this.getAttribute("heading-level")) || (isOwnPage ? 1 : 2);
    const parameters = new URLSearchParams(isOwnPage ? location.search : "");
    const session = parameters.get("session");
    this.sessionId = SESSION.test(session ?? "") ? session : null;
    this.isPreview = parameters.has("preview") || this.hasAttribute("preview");
    this.server = new FormServer(this.baseUrl, this.getAttribute("form"));
    const root = this.attachShadow({ mode: "open" });
    addStyle(root);
    this.card = make(isOwnPage ? "main" : "section", { class: `card ${this.kind}` });
    if (!isOwnPage) this.card.setAttribute("aria-label", "Form");
    root.append(this.card);
    this.load();
  }

  disconnectedCallback() {
    this.view?.saver?.stop();
  }

  async load() {
    this.card.replaceChildren(make("p", { role: "status" }, "Loading…"));
    try {
      this.form = await this.server.form(this.isPreview);
    } catch (error) {
      const isMissing = error.status === 404;
      const again = make("button", { type: "button", class: "quiet", onclick: () => this.load() }, "Try again");
      this.card.replaceChildren(make("p", { role: "alert" }, isMissing ? "There is no form here, or it is not open." : toldOf(error)),
        ...(isMissing ? [] : [again]));
      return;
    }
    this.paint(this.form.branding ?? {});
    if (this.form.settings.conversational?.enabled && !this.sessionId) this.talk();
    else this.fillIn();
  }

  paint({ primary_color: primary, background_color: ground }) {
    const accent = colourOf(primary);
    if (accent) {
      this.style.setProperty("--accent", `rgb(${accent.join(" ")})`);
      // The luminance at which black and white text have the same contrast.
      this.style.setProperty("--on-accent", brightness(accent) > 0.179 ? "#000" : "#fff");
    }
    const behind = colourOf(ground);
    if (behind) this.style.setProperty("--behind", `rgb(${behind.join(" ")})`);
  }

  heading() {
    const { name, description, branding, settings } = this.form;
    const logo = branding?.logo_url ? webAddress(branding.logo_url, this.baseUrl) : null;
    const isOver = settings.close_at && new Date(settings.close_at) <= new Date();
    this.card.setAttribute("aria-label", name);
    return [
      ...(logo ? [make("img", { class: "logo", src: logo, alt: "" })] : []),
      make(`h${this.headingLevel}`, { class: "name" }, name),
      ...(description ? [make("p", { class: "plain" }, description)] : []),
      ...(isOver ? [make("p", { class: "result bad" }, "This form no longer accepts answers.")] : []),
    ];
  }

  viewOptions() {
    const { form, server, kind, headingLevel, sessionId, isPreview } = this;
    return { form, server, kind, headingLevel, sessionId, isPreview };
  }

  /** Show the form with the answers given so far. */
  fillIn(answers = {}) {
    this.view = new FormView({ ...this.viewOptions(), answers, onDone: (answer) => this.finish(answer) });
    this.card.replaceChildren(...this.heading(), this.view.element);
  }

  talk() {
    this.view = new ConversationView({
      ...this.viewOptions(), onForm: (answers) => this.fillIn(answers), onEnd: (data) => this.card.append(...this.goOn(data)),
    });
    this.card.replaceChildren(...this.heading(), this.view.element);
  }

  finish({ data, message }) {
    const told = make("p", { class: "result good plain", role: "status", tabindex: "-1" }, message);
    this.card.replaceChildren(make(`h${this.headingLevel}`, { class: "name" }, this.form.name), told, ...this.goOn(data));
    told.focus();
  }

  /** Notify the surrounding page and redirect; return a link in case the redirect is blocked. */
  goOn({ submission_id: submissionId, redirect_url: redirectUrl }) {
    this.dispatchEvent(new CustomEvent("retinue-submitted", { bubbles: true, composed: true, detail: { submissionId } }));
    const next = redirectUrl ? webAddress(redirectUrl, this.baseUrl) : null;
    if (!next) return [];
    const target = this.kind === "frame" ? "_top" : "_self";
    window.open(next, target);
    return [make("p", { class: "next" }, make("a", { href: next, target, rel: "noopener" }, "Continue"))];
  }
}
