import { createElement } from "@retinue/elements";
import type { HostedWords } from "@retinue/words/hosted";
import { createPageIcon } from "./icons";
import type { PageRefusal } from "./page_service";

type Actions = { signIn: string; retry: () => void };

/** The page where there is no chat, or not before one has signed in. It says nothing about whose it is. */
export function createSignInGate(words: HostedWords, refusal: PageRefusal, { signIn, retry }: Actions): HTMLElement {
  const createSignInLink = (text: string) => createElement("a", { class: "primary", href: signIn }, text);
  const content = {
    missing: [words.missingTitle, words.missingText],
    lost: [
      words.lostTitle,
      words.lostText,
      createElement("button", { type: "button", class: "primary", onclick: retry }, words.retry),
    ],
    signIn: [
      words.signInTitle,
      words.signInText,
      createSignInLink(words.signIn),
      createElement("small", {}, words.invite),
    ],
    refused: [words.refusedTitle, words.refusedText],
  }[refusal] as [string, string, ...HTMLElement[]];
  const [title, text, ...actions] = content;
  return createElement(
    "main",
    { class: "gate" },
    createElement("span", { class: "gate-mark" }, createPageIcon("lock", 26)),
    createElement("h1", {}, title),
    createElement("p", { role: refusal === "lost" ? "alert" : undefined }, text),
    ...actions,
  );
}
