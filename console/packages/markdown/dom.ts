import { make } from "@retinue/elements";
import type { MarkdownElement, MarkdownNode } from "./tree";

export type MarkdownLabels = { copy: string; copied: string };

const COPIED_MS = 2000;

/** The elements of these nodes; what a model wrote only ever becomes text and checked links. */
export function domOf(nodes: MarkdownNode[], labels: MarkdownLabels): (Node | string)[] {
  return nodes.map((node) => (typeof node === "string" ? node : elementOf(node, labels)));
}

function elementOf(node: MarkdownElement, labels: MarkdownLabels): HTMLElement {
  const children = domOf(node.children, labels);
  switch (node.tag) {
    case "heading":
      return make("p", {}, make("strong", {}, ...children));
    case "pre":
      return codeBlock(String(node.children[0] ?? ""), labels);
    case "a":
      return make("a", { href: node.href, target: "_blank", rel: "noopener noreferrer nofollow" }, ...children);
    case "table":
      // What is wider than the message scrolls inside it, also by keyboard.
      return make("div", { class: "table", tabindex: "0" }, make("table", {}, ...children));
    default:
      return make(node.tag, attributesOf(node), ...children);
  }
}

const attributesOf = ({ align, isShort, isLong, start }: MarkdownElement) => ({
  "data-align": align,
  "data-short": isShort && "",
  "data-long": isLong && "",
  start,
});

/** Code with a button that copies it, where the page lets the clipboard be written to. */
function codeBlock(text: string, { copy, copied }: MarkdownLabels): HTMLElement {
  const block = make("pre", {}, make("code", {}, text));
  const { clipboard } = navigator;
  if (!clipboard) return block;
  const button = make(
    "button",
    { type: "button", class: "copy", onclick: () => clipboard.writeText(text).then(done) },
    copy,
  );
  const done = () => {
    button.textContent = copied;
    setTimeout(() => {
      button.textContent = copy;
    }, COPIED_MS);
  };
  return make("div", { class: "code" }, block, button);
}
