import { addShadowStyle, createElement } from "@retinue/elements";
import type { Design } from "@retinue/widget/chat_types";
import { ChatWidget } from "@retinue/widget/chat_widget";
import composerStyle from "@retinue/widget/composer_style.css?inline";
import { resolveWidgetLook } from "@retinue/widget/look";
import messageStyle from "@retinue/widget/message_style.css?inline";
import style from "@retinue/widget/style.css?inline";
import { matchLanguage } from "@retinue/words";
import { type HostedWords, selectHostedWords } from "@retinue/words/hosted";
import { createSignInGate } from "./gate";
import gateStyle from "./gate_style.css?inline";
import pageStyle from "./hosted_style.css?inline";
import { MemberConversation } from "./member_conversation";
import { type PageChat, PageConversation } from "./page_conversation";
import { PageFrame } from "./page_frame";
import {
  loadMemberPage,
  loadPublicPage,
  MemberToken,
  PageError,
  type PublicPage,
  readWidgetDesign,
} from "./page_service";

/** A whole page on which people chat with one agent. */
export class RetinuePage extends HTMLElement {
  /** The address of the service that the script came from. */
  static ownBase = "";

  /** Given before the element is connected, it is used instead of the service; the console's preview does that. */
  conversation: PageChat | undefined;
  private shown: Design = { settings: {} };
  private widget: ChatWidget | undefined;
  private frame: PageFrame | undefined;
  private words!: HostedWords;

  connectedCallback() {
    if (this.shadowRoot) return;
    const language = matchLanguage(this.getAttribute("lang") ?? navigator.language) ?? "en";
    this.setAttribute("lang", language);
    document.documentElement.lang = language;
    this.setAttribute("inline", "");
    this.setAttribute("fill", "");
    this.words = selectHostedWords(language);
    addShadowStyle(this.attachShadow({ mode: "open" }), style + messageStyle + composerStyle + pageStyle + gateStyle);
    if (this.conversation) this.showChat(this.conversation);
    else void this.start();
  }

  disconnectedCallback() {
    this.widget?.stopAll();
    this.frame?.releaseMicrophone();
  }

  /** The look, as its owner is choosing it. */
  set design(design: Design) {
    this.shown = design;
    this.showLook();
  }

  open({ takesFocus = true } = {}) {
    this.widget?.panel.open(takesFocus);
  }

  private get slug() {
    return this.getAttribute("slug") ?? "";
  }

  /** Find out what the page is, and show the chat or why there is none. */
  private async start() {
    const base = RetinuePage.ownBase;
    const waiting = createElement("p", { class: "speaker", role: "status" }, this.words.loading);
    this.shadowRoot?.replaceChildren(waiting);
    try {
      const page = await loadPublicPage(base, this.slug);
      if (page.audience === "members") await this.startForMember(base);
      else this.startPublic(base, page);
    } catch (error) {
      this.showGate(error);
    }
  }

  private async startForMember(base: string) {
    const token = new MemberToken(base);
    const found = await token.find();
    if (!found) throw new PageError("signIn");
    const page = await loadMemberPage(base, this.slug, found);
    this.startChat(new MemberConversation(base, page.agent?.id ?? "", token), page);
  }

  private startPublic(base: string, page: PublicPage) {
    const address = { baseUrl: base, agentId: page.agent?.id ?? "", apiKey: page.page_key ?? "" };
    const conversation = new PageConversation(address);
    // What is spent may have been spent by others since.
    conversation.onRefused = () =>
      void loadPublicPage(base, this.slug).then(
        ({ opens_at }) => this.frame?.showClosed(opens_at),
        () => undefined,
      );
    this.startChat(conversation, page);
  }

  private startChat(conversation: PageChat, page: PublicPage) {
    this.setAttribute("agent-id", page.agent?.id ?? "");
    this.shown = readWidgetDesign(page);
    this.showChat(conversation);
    if (page.takes_voice) this.frame?.offerVoice();
    this.frame?.showClosed(page.opens_at);
  }

  private showChat(conversation: PageChat) {
    const shadow = this.shadowRoot as ShadowRoot;
    shadow.replaceChildren();
    this.widget = new ChatWidget(this, shadow, conversation, () => this.showLook());
    this.frame = new PageFrame(this.widget, this.words, conversation, this.getAttribute("agent-id") ?? "");
    this.widget.begin();
    this.showLook();
    this.widget.mount();
    this.dispatchEvent(new CustomEvent("retinue-ready"));
    const { widget } = this;
    void widget.showEarlier().then((messages) => widget.showUnsent(messages));
  }

  private showLook() {
    if (!this.widget) return;
    const look = resolveWidgetLook(this, this.shown, this.widget.words);
    this.widget.showLook(look, this.shown.allow_attachments === true);
    this.frame?.show(look, this.shown);
    document.title = look.title;
  }

  private showGate(error: unknown) {
    const refusal = error instanceof PageError ? error.refusal : "lost";
    const back = encodeURIComponent(`/c/${this.slug}`);
    const signIn = `${RetinuePage.ownBase}/console/sign-in?to=${back}`;
    const darkness = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const gate = createSignInGate(this.words, refusal, { signIn, retry: () => void this.start() });
    this.shadowRoot?.replaceChildren(createElement("div", { class: "root gated", "data-scheme": darkness }, gate));
  }
}
