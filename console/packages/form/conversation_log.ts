import { createElement } from "@retinue/elements";
import { formWords } from "@retinue/words/form";
import type { ConversationMessage } from "./form_types";

const IMAGE_START = "data:image/";

/** The messages of a conversation, and what went wrong on the way. */
export class ConversationLog {
  readonly element = createElement("div", {
    class: "log",
    role: "log",
    "aria-label": formWords.conversation,
    tabindex: "0",
  });

  addMessage({ role, content }: ConversationMessage) {
    const isVisitor = role === "user";
    const speaker = createElement("span", { class: "unseen" }, isVisitor ? formWords.you : formWords.question);
    const text = isVisitor && content.startsWith(IMAGE_START) ? formWords.signature : content;
    this.element.append(
      createElement("div", { class: `message ${role}` }, speaker, createElement("p", { class: "plain" }, text)),
    );
    this.scrollDown();
  }

  /** Show a problem with a button that tries again. */
  addProblem(message: string, label: string, onRetry: () => void): ProblemNotice {
    const text = createElement("p", {}, message);
    const retryOnce = () => {
      notice.remove();
      onRetry();
    };
    const button = createElement("button", { type: "button", class: "quiet", onclick: retryOnce }, label);
    const notice = createElement("div", { class: "message problem", role: "alert" }, text, button);
    this.element.append(notice);
    this.scrollDown();
    return { element: notice, text };
  }

  /** `aria-busy` makes screen readers wait until the reply is complete. */
  setBusy(isBusy: boolean) {
    this.element.setAttribute("aria-busy", String(isBusy));
  }

  scrollDown() {
    this.element.scrollTop = this.element.scrollHeight;
  }
}

export type ProblemNotice = { element: HTMLElement; text: HTMLElement };
