import { addShadowStyle } from "@retinue/elements";
import type { ChatService, Design } from "./chat_types";
import { ChatWidget } from "./chat_widget";
import composerStyle from "./composer_style.css?inline";
import { PublicConversation } from "./conversation";
import floatingStyle from "./floating_style.css?inline";
import { type Look, loadWidgetDesign, readVisitor, resolveWidgetLook } from "./look";
import messageStyle from "./message_style.css?inline";
import style from "./style.css?inline";

const LOOK = ["title", "greeting", "placeholder", "accent", "on-accent", "scheme", "position", "suggestions"];

/** A button that opens a panel to talk to an agent; with the attribute `inline` the panel alone. */
export class RetinueChat extends HTMLElement {
  static observedAttributes = LOOK;
  /** The address of the service that the script came from. */
  static ownBase = "";

  /** Given before the element is connected, it is used instead of the service; the console's preview does that. */
  conversation: ChatService | undefined;
  private stored: Design | null | undefined;
  private look: Look | undefined;
  private widget: ChatWidget | undefined;

  connectedCallback() {
    if (this.shadowRoot) return;
    this.conversation ??= new PublicConversation({
      baseUrl: this.getAttribute("base-url") ?? RetinueChat.ownBase,
      agentId: this.getAttribute("agent-id"),
      apiKey: this.getAttribute("api-key"),
      user: readVisitor(this),
    });
    const shadow = this.attachShadow({ mode: "open" });
    addShadowStyle(shadow, style + messageStyle + composerStyle + floatingStyle);
    this.widget = new ChatWidget(this, shadow, this.conversation, () => this.showLook());
    void this.startWidget(this.widget, this.conversation);
  }

  disconnectedCallback() {
    this.widget?.stopAll();
  }

  attributeChangedCallback() {
    if (this.look) this.showLook();
  }

  /** Another design, as its owner is choosing it. */
  set design(design: Design) {
    this.stored = design;
    if (this.look) this.showLook();
  }

  open({ takesFocus = true } = {}) {
    this.widget?.panel.open(takesFocus);
  }

  close() {
    this.widget?.panel.close();
  }

  /** Show the widget once it is known how it looks. */
  private async startWidget(widget: ChatWidget, conversation: ChatService) {
    let isWithdrawn = false;
    this.stored ??= await loadWidgetDesign(conversation, (reason) => {
      isWithdrawn = true;
      this.withdrawWidget(widget, reason);
    });
    if (isWithdrawn) return;
    widget.begin();
    this.showLook();
    widget.mount();
    this.dispatchEvent(new CustomEvent("retinue-ready"));
    widget.showUnsent(await widget.showEarlier());
  }

  /** Show nothing where the chat cannot work, and tell the page's owner why. */
  private withdrawWidget(widget: ChatWidget, reason: string) {
    widget.root.replaceChildren();
    console.warn(`Retinue: the chat is not shown on ${location.origin}. ${reason}`);
    this.dispatchEvent(new CustomEvent("retinue-refused"));
  }

  private showLook() {
    if (!this.widget) return;
    this.look = resolveWidgetLook(this, this.stored, this.widget.words);
    this.widget.showLook(this.look, this.stored?.allow_attachments === true);
  }
}
