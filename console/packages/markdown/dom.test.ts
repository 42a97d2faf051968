// @vitest-environment jsdom
import { expect, it, vi } from "vitest";
import { parseMarkdown } from "./blocks";
import { renderMarkdownNodes } from "./dom";

const LABELS = { copy: "Copy", copied: "Copied" };

function shown(text: string): HTMLElement {
  const place = document.createElement("div");
  place.append(...renderMarkdownNodes(parseMarkdown(text), LABELS));
  return place;
}

it("makes elements of text and checked links only", () => {
  const place = shown("# T\n\n**a** [b](https://c.example/) <i>\n\n| A |\n|--:|\n| b |\n\n3. x");
  const link = place.querySelector("a");
  expect([link?.href, link?.target, link?.rel]).toEqual([
    "https://c.example/",
    "_blank",
    "noopener noreferrer nofollow",
  ]);
  expect(place.querySelector("i")).toBeNull();
  expect(place.querySelector("p strong")?.textContent).toBe("T");
  expect(place.querySelector("div.table[tabindex='0'] td[data-align='right'][data-short]")?.textContent).toBe("b");
  expect(place.querySelector("ol")?.start).toBe(3);
});

it("copies code", async () => {
  const writeText = vi.fn(() => Promise.resolve());
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  const place = shown("```js\na()\n```");
  const button = place.querySelector("button");
  button?.click();
  await vi.waitFor(() => expect(button?.textContent).toBe("Copied"));
  expect(writeText).toHaveBeenCalledWith("a()");
  vi.stubGlobal("navigator", {});
  expect(shown("```\nb\n```").querySelector("button")).toBeNull();
  vi.unstubAllGlobals();
});
