import { createElement } from "@retinue/elements";
import type { HostedWords } from "@retinue/words/hosted";
import { createPageIcon, type PageIcon } from "./icons";
import type { PageChat, PageRating } from "./page_conversation";

type Reply = { bubble: HTMLElement; text: string; messageId: string | undefined };

/** What one can do with a reply: copy it, and say whether it was good. */
export function createReplyActions(
  words: HostedWords,
  chat: PageChat,
  { bubble, text, messageId }: Reply,
): HTMLElement {
  const said = createElement("span", { class: "said", role: "status" });
  const createAction = (icon: PageIcon, label: string, onclick: () => void, more = {}) =>
    createElement(
      "button",
      { type: "button", class: "tool", "aria-label": label, title: label, onclick, ...more },
      createPageIcon(icon),
    );
  const copyText = () =>
    void navigator.clipboard?.writeText(text || (bubble.textContent ?? "")).then(() => {
      said.textContent = words.copied;
    });
  const actions = createElement("div", { class: "actions" }, createAction("copy", words.copy, copyText));
  if (!messageId || !chat.rateReply) {
    actions.append(said);
    return actions;
  }
  const buttons = new Map<PageRating, HTMLElement>();
  const rateReply = async (rating: PageRating) => {
    const isTaken = buttons.get(rating)?.getAttribute("aria-pressed") === "true";
    try {
      await chat.rateReply?.(messageId, isTaken ? "none" : rating);
      for (const [name, button] of buttons) button.setAttribute("aria-pressed", String(name === rating && !isTaken));
      said.textContent = isTaken ? "" : words.thanks;
    } catch {
      said.textContent = words.notRated;
    }
  };
  for (const [rating, icon, label] of [
    ["positive", "up", words.good],
    ["negative", "down", words.bad],
  ] as const) {
    const button = createAction(icon, label, () => void rateReply(rating), { "aria-pressed": "false" });
    buttons.set(rating, button);
    actions.append(button);
  }
  actions.append(said);
  return actions;
}
