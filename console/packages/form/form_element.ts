import { addShadowStyle, createElement } from "@retinue/elements";
import { formWords } from "@retinue/words/form";
import pageStyle from "../../../src/retinue/kit/http/assets/pages.css?inline";
import conversationStyle from "./conversation_style.css?inline";
import { ConversationView } from "./conversation_view";
import fieldStyle from "./field_style.css?inline";
import { findReadableTextColour, formatColourChannels, parseColourText } from "./form_colours";
import { FormError, formErrorMessage } from "./form_error";
import { FormServer } from "./form_server";
import type { Answers, FormBranding, PublishedForm, SubmissionEnd, SubmissionReceipt } from "./form_types";
import { FormView, type FormViewOptions } from "./form_view";
import { resolveWebAddress } from "./page_address";
import style from "./style.css?inline";

/** The session ids the server accepts. */
const SESSION_ID = /^[A-Za-z0-9_-]{16,128}$/;
const OWN_PAGE_HEADING_LEVEL = 1;
const EMBED_HEADING_LEVEL = 2;

type ElementSettings = Omit<FormViewOptions, "form"> & { baseUrl: string; card: HTMLElement };
type LoadedForm = ElementSettings & FormViewOptions;

/** A form of Retinue: `<retinue-form form="slug" base-url="…">`. */
export class RetinueForm extends HTMLElement {
  /** The address of the service that the script came from. */
  static ownBase = "";

  view: FormView | ConversationView | undefined;

  connectedCallback() {
    if (this.shadowRoot) return;
    const settings = this.readSettings();
    const root = this.attachShadow({ mode: "open" });
    addShadowStyle(root, pageStyle + style + fieldStyle + conversationStyle);
    root.append(settings.card);
    void this.load(settings);
  }

  disconnectedCallback() {
    if (this.view instanceof FormView) this.view.stopSaving();
  }

  private readSettings(): ElementSettings {
    const baseUrl = this.getAttribute("base-url") ?? RetinueForm.ownBase;
    const kind = this.getAttribute("kind") ?? "embed";
    const isOwnPage = kind !== "embed";
    const parameters = new URLSearchParams(isOwnPage ? location.search : "");
    const session = parameters.get("session") ?? "";
    const card = createElement(isOwnPage ? "main" : "section", { class: `card ${kind}` });
    if (!isOwnPage) card.setAttribute("aria-label", formWords.form);
    return {
      baseUrl,
      card,
      kind,
      server: new FormServer(baseUrl, this.getAttribute("form")),
      headingLevel:
        Number(this.getAttribute("heading-level")) || (isOwnPage ? OWN_PAGE_HEADING_LEVEL : EMBED_HEADING_LEVEL),
      sessionId: SESSION_ID.test(session) ? session : null,
      isPreview: parameters.has("preview") || this.hasAttribute("preview"),
    };
  }

  private async load(settings: ElementSettings) {
    const { card, server, isPreview, sessionId } = settings;
    card.replaceChildren(createElement("p", { role: "status" }, formWords.loading));
    let form: PublishedForm;
    try {
      form = await server.loadForm(isPreview);
    } catch (error) {
      this.showFailure(settings, error);
      return;
    }
    this.applyColours(form.branding ?? {});
    if (form.settings.conversational?.enabled && !sessionId) this.showConversation({ ...settings, form });
    else this.showForm({ ...settings, form });
  }

  private showFailure(settings: ElementSettings, error: unknown) {
    const isMissing = error instanceof FormError && error.status === 404;
    const message = createElement("p", { role: "alert" }, isMissing ? formWords.missing : formErrorMessage(error));
    const attributes = { type: "button", class: "quiet", onclick: () => this.load(settings) };
    const retry = isMissing ? [] : [createElement("button", attributes, formWords.retry)];
    settings.card.replaceChildren(message, ...retry);
  }

  private applyColours({ primary_color: primary, background_color: background }: FormBranding) {
    const accent = parseColourText(primary);
    if (accent) {
      this.style.setProperty("--accent", formatColourChannels(accent));
      this.style.setProperty("--on-accent", findReadableTextColour(accent));
    }
    const behind = parseColourText(background);
    if (behind) this.style.setProperty("--behind", formatColourChannels(behind));
  }

  /** Show the form with the answers given so far. */
  private showForm(loaded: LoadedForm, answers: Answers = {}) {
    const view = new FormView({ ...loaded, answers }, (receipt) => this.showReceipt(loaded, receipt));
    this.view = view;
    loaded.card.replaceChildren(...makeHeading(loaded), view.element);
  }

  private showConversation(loaded: LoadedForm) {
    const view = new ConversationView(loaded, {
      onForm: (answers) => this.showForm(loaded, answers),
      onEnd: (end) => loaded.card.append(...this.leaveForm(loaded, end)),
    });
    this.view = view;
    loaded.card.replaceChildren(...makeHeading(loaded), view.element);
  }

  private showReceipt(loaded: LoadedForm, { data, message }: SubmissionReceipt) {
    const result = createElement("p", { class: "result good plain", role: "status", tabindex: "-1" }, message);
    loaded.card.replaceChildren(makeName(loaded), result, ...this.leaveForm(loaded, data));
    result.focus();
  }

  /** Notify the surrounding page and redirect; return a link in case the redirect is blocked. */
  private leaveForm({ kind, baseUrl }: LoadedForm, { submission_id: submissionId, redirect_url: url }: SubmissionEnd) {
    const options = { bubbles: true, composed: true, detail: { submissionId } };
    this.dispatchEvent(new CustomEvent("retinue-submitted", options));
    const next = resolveWebAddress(url, baseUrl);
    if (!next) return [];
    const target = kind === "frame" ? "_top" : "_self";
    window.open(next, target);
    return [
      createElement(
        "p",
        { class: "next" },
        createElement("a", { href: next, target, rel: "noopener" }, formWords.next),
      ),
    ];
  }
}

const makeName = ({ headingLevel, form }: LoadedForm) =>
  createElement(`h${headingLevel}`, { class: "name" }, form.name);

/** Return the name of the form and what is said about it, and name its card after it. */
function makeHeading(loaded: LoadedForm): HTMLElement[] {
  const { card, baseUrl, form } = loaded;
  const { name, description, branding, settings } = form;
  const logo = resolveWebAddress(branding?.logo_url, baseUrl);
  const isClosed = settings.close_at && new Date(settings.close_at) <= new Date();
  card.setAttribute("aria-label", name);
  return [
    ...(logo ? [createElement("img", { class: "logo", src: logo, alt: "" })] : []),
    makeName(loaded),
    ...(description ? [createElement("p", { class: "plain" }, description)] : []),
    ...(isClosed ? [createElement("p", { class: "result bad" }, formWords.closed)] : []),
  ];
}
