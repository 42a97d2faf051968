type Listeners = { [Name in keyof HTMLElementEventMap as `on${Name}`]?: (event: HTMLElementEventMap[Name]) => unknown };
/** `onclick` and its like are listeners; an attribute that is undefined is left out. */
export interface ElementAttributes extends Listeners {
  [name: string]: unknown;
}

type ElementOf<Tag extends string> = Tag extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Tag] : HTMLElement;

/** Create an element from text and other elements, never from markup. */
export function createElement<Tag extends string>(
  tag: Tag,
  attributes: ElementAttributes = {},
  ...children: (Node | string)[]
): ElementOf<Tag> {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element as ElementOf<Tag>;
}

/** Style a shadow root. A constructed style sheet is not subject to the page's content security policy. */
export function addShadowStyle(root: ShadowRoot, style: string) {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
  } catch {
    root.append(createElement("style", {}, style));
  }
}

export function createRandomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The value of a JSON text; null if it is none. */
export function parseJson<T>(text: string | null): T | null {
  try {
    return JSON.parse(text ?? "null") as T | null;
  } catch {
    return null;
  }
}

/** Define a custom element once, also where a page loads our script twice. */
export function defineElement(name: string, element: CustomElementConstructor) {
  if (!customElements.get(name)) customElements.define(name, element);
}

/**
 * Put an element into the page as the attributes `data-…` of our script's own tag say.
 * The tag is known only while the script runs; one without `data-<required>` adds nothing.
 */
export function addElementFromScript(
  script: HTMLScriptElement | null,
  required: string,
  add: (attributes: [name: string, value: string][], script: HTMLScriptElement) => void,
) {
  if (!script?.hasAttribute(`data-${required}`)) return;
  const attributes = [...script.attributes]
    .filter(({ name }) => name.startsWith("data-"))
    .map(({ name, value }): [string, string] => [name.slice(5), value]);
  if (document.body) add(attributes, script);
  else document.addEventListener("DOMContentLoaded", () => add(attributes, script), { once: true });
}

/** The script that runs now; null in a module or after it has run. */
export const findOwnScript = () => document.currentScript as HTMLScriptElement | null;
