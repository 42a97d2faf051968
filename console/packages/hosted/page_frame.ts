import { isColour } from "@retinue/colours";
import { createElement } from "@retinue/elements";
import type { Design } from "@retinue/widget/chat_types";
import type { ChatWidget } from "@retinue/widget/chat_widget";
import { createAgentMark, createWidgetIcon } from "@retinue/widget/drawing";
import type { Look } from "@retinue/widget/look";
import { fillPlaceholders, matchLanguage } from "@retinue/words";
import type { HostedWords } from "@retinue/words/hosted";
import { createPageIcon } from "./icons";
import type { PageChat } from "./page_conversation";
import { createReplyActions } from "./reply_actions";
import { SentenceSpeaker } from "./sentences";
import { VoiceButton } from "./voice";

const SPOKEN_MS = 5000;

const createOutsideLink = (href: string, attributes: object, ...content: (Node | string)[]) =>
  createElement("a", { href, rel: "noopener noreferrer", ...attributes }, ...content);

/** What makes a whole page of the widget's panel: a head with the name, a welcome, links, and more to do with replies. */
export class PageFrame {
  private readonly head = createElement("div", { class: "names" });
  private readonly logo = createElement("span", { class: "logo" });
  private readonly person = createElement("span", { class: "person" });
  private readonly welcome = createElement("div", { class: "welcome" });
  private readonly legal = createElement("footer", { class: "legal" });
  private readonly closed = createElement("p", { class: "closed", role: "status" });
  private readonly spoken = createElement("div", { class: "speaker", "aria-live": "polite" });
  private readonly element: HTMLElement;
  private voice: VoiceButton | undefined;

  constructor(
    private readonly widget: ChatWidget,
    private readonly words: HostedWords,
    private readonly chat: PageChat,
    private readonly agentId: string,
  ) {
    this.element = widget.panel.element;
    this.rebuildHead();
    widget.log.element.before(this.welcome);
    this.element.querySelector("form")?.before(this.closed);
    this.element.append(this.legal, this.spoken);
    this.followLog();
  }

  private rebuildHead() {
    const anew = this.element.querySelector<HTMLElement>("header button");
    if (anew) {
      anew.className = "round anew";
      anew.title = this.words.newChat;
      anew.setAttribute("aria-label", this.words.newChat);
      anew.replaceChildren(createWidgetIcon("anew", 16), createElement("span", {}, this.words.newChat));
    }
    this.element.querySelector("header")?.replaceChildren(this.logo, this.head, ...(anew ? [anew] : []), this.person);
  }

  /** The welcome makes room for what is said, and replies are read aloud by sentences. */
  private followLog() {
    const { log } = this.widget;
    // A log that is shown only now has not moved with its messages.
    const showTalk = () => this.element.toggleAttribute("data-talk", !log.isEmpty) && log.scrollDown();
    new MutationObserver(showTalk).observe(log.element, { childList: true });
    showTalk();
    log.element.setAttribute("aria-live", "off");
    const speaker = new SentenceSpeaker((sentence) => {
      const said = createElement("p", {}, sentence);
      this.spoken.append(said);
      // It stands in the log as well, where it can be read again.
      setTimeout(() => said.remove(), SPOKEN_MS);
    });
    log.onWritten = (text, ended) => {
      if (!ended) {
        speaker.hear(text);
        return;
      }
      speaker.finish(text);
      ended.bubble.querySelector(".actions")?.remove();
      ended.bubble.append(createReplyActions(this.words, this.chat, { ...ended, text }));
    };
  }

  offerVoice() {
    const canRecord = typeof MediaRecorder !== "undefined" && Boolean(navigator.mediaDevices);
    if (!canRecord || this.element.querySelector(".voice")) return;
    this.voice = new VoiceButton(this.words, this.widget.tray, (text) => {
      this.closed.textContent = text;
    });
    this.widget.panel.input.after(this.voice.element);
  }

  releaseMicrophone() {
    this.voice?.release();
  }

  /** Say when the page answers again; nothing can be sent before. */
  showClosed(opensAt: string | null | undefined) {
    const form = { day: "numeric", month: "long", timeZone: "UTC" } as const;
    const isOwn = matchLanguage(navigator.language) === matchLanguage(document.documentElement.lang);
    const locale = isOwn ? navigator.language : "en";
    const date = opensAt && new Date(opensAt).toLocaleDateString(locale, form);
    this.closed.textContent = date ? fillPlaceholders(this.words.full, { date }) : "";
    this.element.toggleAttribute("data-closed", Boolean(date));
    this.widget.panel.input.disabled = Boolean(date);
  }

  show(look: Look, { settings, agent }: Design) {
    const heading = createElement("h1", { id: "title" }, look.title);
    const below = agent && agent.name !== look.title ? [createElement("small", {}, agent.name)] : [];
    this.head.replaceChildren(heading, ...below);
    this.logo.replaceChildren(this.createLogo(settings.logo_url));
    const lead = settings.lead ? [createElement("p", {}, settings.lead)] : [];
    this.welcome.replaceChildren(createElement("h2", {}, look.greeting), ...lead);
    const { person, privacy, imprint, caution, by } = this.words;
    this.person.replaceChildren();
    if (settings.contact_url)
      this.person.append(
        createOutsideLink(
          settings.contact_url,
          { class: "round", "aria-label": person },
          createPageIcon("person"),
          createElement("span", {}, person),
        ),
      );
    this.legal.replaceChildren(createElement("span", {}, caution));
    if (settings.privacy_url) this.legal.append(createOutsideLink(settings.privacy_url, {}, privacy));
    if (settings.imprint_url) this.legal.append(createOutsideLink(settings.imprint_url, {}, imprint));
    this.legal.append(createElement("span", { class: "by" }, by));
    const second = settings.second_accent;
    this.element.style.setProperty("--second", isColour(second) ? second : "var(--fill)");
  }

  private createLogo(url: string | null | undefined): HTMLElement {
    const mark = createAgentMark(this.agentId, 36);
    if (!url) return mark;
    const image = createElement("img", { alt: "", src: url, width: "36", height: "36" });
    image.addEventListener("error", () => image.replaceWith(mark));
    return image;
  }
}
