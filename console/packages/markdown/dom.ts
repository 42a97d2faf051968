import { createElement } from "@retinue/elements";
import type { MarkdownElement, MarkdownNode } from "./tree";

export type MarkdownLabels = { copy: string; copied: string };

const COPIED_MS = 2000;

/** The elements of these nodes; what a model wrote only ever becomes text and checked links. */
export function renderMarkdownNodes(nodes: MarkdownNode[], labels: MarkdownLabels): (Node | string)[] {
  return nodes.map((node) => (typeof node === "string" ? node : renderMarkdownElement(node, labels)));
}

function renderMarkdownElement(node: MarkdownElement, labels: MarkdownLabels): HTMLElement {
  const children = renderMarkdownNodes(node.children, labels);
  switch (node.tag) {
    case "heading":
      return createElement("p", {}, createElement("strong", {}, ...children));
    case "pre":
      return renderCodeBlock(String(node.children[0] ?? ""), labels);
    case "a":
      return createElement(
        "a",
        { href: node.href, target: "_blank", rel: "noopener noreferrer nofollow" },
        ...children,
      );
    case "table":
      // What is wider than the message scrolls inside it, also by keyboard.
      return createElement("div", { class: "table", tabindex: "0" }, createElement("table", {}, ...children));
    default:
      return createElement(node.tag, readElementAttributes(node), ...children);
  }
}

const readElementAttributes = ({ align, isShort, isLong, start }: MarkdownElement) => ({
  "data-align": align,
  "data-short": isShort && "",
  "data-long": isLong && "",
  start,
});

/** Code with a button that copies it, where the page lets the clipboard be written to. */
function renderCodeBlock(text: string, { copy, copied }: MarkdownLabels): HTMLElement {
  const block = createElement("pre", {}, createElement("code", {}, text));
  const { clipboard } = navigator;
  if (!clipboard) return block;
  const button = createElement(
    "button",
    { type: "button", class: "copy", onclick: () => clipboard.writeText(text).then(showCopied) },
    copy,
  );
  const showCopied = () => {
    button.textContent = copied;
    setTimeout(() => {
      button.textContent = copy;
    }, COPIED_MS);
  };
  return createElement("div", { class: "code" }, block, button);
}
